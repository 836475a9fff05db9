#pragma once

#include <caf/all.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "actors/link/tls.hpp"
#include "actors/link/worker_link_options.hpp"
#include "actors/messages/interfaces.hpp"
#include "config/endpoint.hpp"
#include "model/expected.hpp"

namespace muster {

struct MasterLinkSetup {
  InstanceId instance;
  std::vector<Endpoint> masters;  ///< where the master listens; tried in turn; at least one
  std::string master_name;        ///< common name that the master has to show; empty: any
  /// The worker's certificate and the authority of the nodes. Left out only with
  /// options.insecure_loopback.
  std::optional<TlsFiles> tls;
  WorkerLinkOptions options;
  std::uint64_t seed = 1;  ///< of the jitter of dialing
  LinkListener news;       ///< may be empty
};

/// A worker's end of the link to its master. It dials as soon as the worker has spoken to master(),
/// and again for ever when the link is lost; after each connection it greets the worker, whose
/// hello opens the link. Messages are dropped while the link is not open. It has to be destroyed
/// before the actor system.
class MasterLink {
 public:
  static Expected<std::unique_ptr<MasterLink>, LinkError> start(caf::actor_system& system,
                                                                MasterLinkSetup setup);
  /// Ends the link and its dialing.
  ~MasterLink();
  MasterLink(const MasterLink&) = delete;
  MasterLink& operator=(const MasterLink&) = delete;

  /// Stands for the master in the worker's process: for WorkerSetup.master. Takes what a worker
  /// says.
  MasterForWorkers master() const;
  bool connected() const;

 private:
  class Core;
  explicit MasterLink(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
  std::thread thread_;
};

}  // namespace muster

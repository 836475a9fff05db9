#pragma once

#include <atomic>
#include <caf/all.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "actors/link/tls.hpp"
#include "actors/link/worker_link_options.hpp"
#include "actors/messages/interfaces.hpp"
#include "model/expected.hpp"

namespace muster {

struct WorkerListenerSetup {
  std::string address = "127.0.0.1";  ///< or a name; its first address is taken
  std::uint16_t port = 0;             ///< 0: any that is free
  /// The node's certificate and the authority of the workers. Left out only with
  /// options.insecure_loopback.
  std::optional<TlsFiles> tls;
  WorkerLinkOptions options;
  LinkedMaster master;  ///< of this process
  LinkListener news;    ///< may be empty
};

/// Counts of messages over the links since the start.
struct WorkerListenerCounts {
  std::atomic<std::uint64_t> accepted{0};  ///< connections
  std::atomic<std::uint64_t> met{0};       ///< that said a proper hello
  std::atomic<std::uint64_t> refused{0};   ///< that ended without one
  std::atomic<std::uint64_t> unknown{0};   ///< frames of kinds that are not known here
  std::atomic<std::uint64_t> unasked{0};   ///< answers to questions that this link did not ask
  std::atomic<std::int64_t> open{0};       ///< connections now
};

/// A master's end of the links to its workers. Each worker that has shown who it is becomes a
/// WorkerActor here: the master is told by `hello`, and sees it go down with the link. A worker's
/// messages are checked and passed on in its own instance's name only, and never faster than the
/// master deals with them. It has to be destroyed before the actor system.
class WorkerListener {
 public:
  /// Listens from now on.
  static Expected<std::unique_ptr<WorkerListener>, LinkError> start(caf::actor_system& system,
                                                                    WorkerListenerSetup setup);
  /// Ends all links.
  ~WorkerListener();
  WorkerListener(const WorkerListener&) = delete;
  WorkerListener& operator=(const WorkerListener&) = delete;

  std::uint16_t port() const;
  const WorkerListenerCounts& counts() const;

 private:
  class Core;
  explicit WorkerListener(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
  std::thread thread_;
};

}  // namespace muster

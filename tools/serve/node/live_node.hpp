#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "config/cluster_config.hpp"
#include "model/expected.hpp"

namespace muster {

enum class NodeError : std::uint8_t {
  unknown_node,  ///< the cluster file has no node of that name
  bad_policy,
  bad_catalog,
  store,   ///< the node's state cannot be opened or read
  tls,     ///< certificates are missing or wrong
  listen,  ///< an address cannot be listened on
  machines
};

struct NodeSetup {
  ClusterConfig config;
  std::string node;               ///< which of the config's nodes this is
  std::filesystem::path program;  ///< the muster command, for workers
  bool log_to_terminal = false;
};

/// One process of the control plane with the roles that its config gives it: stores, actors, the
/// relay before them, workers' links and the API. What it had promised before it was last ended, it
/// goes on with.
class LiveNode {
 public:
  static Expected<std::unique_ptr<LiveNode>, NodeError> start(NodeSetup setup);
  /// Ends everything; instances and their tasks go on.
  ~LiveNode();
  LiveNode(const LiveNode&) = delete;
  LiveNode& operator=(const LiveNode&) = delete;

 private:
  class Parts;
  explicit LiveNode(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace muster

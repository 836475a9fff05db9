#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/cluster_config.hpp"
#include "model/expected.hpp"
#include "model/roster.hpp"

namespace muster {

enum class NodeError : std::uint8_t {
  unknown_node,  ///< the cluster file has no node of that name
  bad_policy,
  bad_catalog,
  store,   ///< the node's state cannot be opened or read
  tls,     ///< certificates are missing or wrong
  listen,  ///< an address cannot be listened on
  machines,
  task_user  ///< no tasks can run here as the user that the file names
};

/// The numbers of another node, which this one has to go on with: its own mean nothing yet.
struct RosterOffer {
  std::string node;  ///< the other one
  ClusterRoster roster;
  std::string difference;  ///< from its own
};

struct NodeSetup {
  ClusterConfig config;
  std::string node;               ///< which of the config's nodes this is
  std::filesystem::path program;  ///< the muster command, for workers
  bool log_to_terminal = false;
  /// Stores are made where they are missing. Otherwise that is an error, unless the node's folder
  /// has a file that permits it (node_stores.hpp).
  bool new_stores = false;
  /// Told, from any thread, when the node has to end for the numbers that LiveNode::offer() has.
  std::function<void()> has_to_end{};
};

/// One process of the control plane with the roles that its config gives it: stores, actors, the
/// relay before them, workers' links and the API. It goes on with the promises of its earlier
/// process.
class LiveNode {
 public:
  static Expected<std::unique_ptr<LiveNode>, NodeError> start(NodeSetup setup);
  /// Ends everything; instances and their tasks go on.
  ~LiveNode();
  /// The numbers of another node that this one has to begin again with, if it has to.
  std::optional<RosterOffer> offer() const;
  /// Writes them down, when the node has ended. Refused when it has made use of its own meanwhile.
  static std::optional<Failure<NodeError>> take(const NodeSetup& setup, const RosterOffer& offer);
  LiveNode(const LiveNode&) = delete;
  LiveNode& operator=(const LiveNode&) = delete;

 private:
  class Parts;
  explicit LiveNode(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace muster

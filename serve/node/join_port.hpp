#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/api/audit_log.hpp"
#include "serve/hosts/book_admin.hpp"
#include "serve/hosts/join_server.hpp"
#include "serve/node/live_node.hpp"
#include "workers/process/files/slow_steps.hpp"

namespace muster {

/// The port where machines join a node with the cloud, and its part of the API.
struct JoinPortParts {
  const ClusterConfig& config;
  const NodeConfig& node;
  std::shared_ptr<hosts::HostBook> hosts;
  std::shared_ptr<api::AuditLog> audit;  ///< null: requests to join are not written down
};

/// Listens.
Expected<std::unique_ptr<hosts::JoinServer>, NodeError> open_join_port(const JoinPortParts& parts);
/// Puts the mark by which machines know the cluster's folder of checkpoints into it, and tries
/// again while it cannot be put there; the node goes on without. `warn` is called on another
/// thread.
Expected<std::unique_ptr<process::SlowSteps>, NodeError> mark_checkpoints(
    const ClusterConfig& config, std::function<void(const std::string&)> warn);
/// Fails when the authority of the nodes cannot be read.
Expected<std::shared_ptr<api::HostAdmin>, NodeError> host_admin(const JoinPortParts& parts);

}  // namespace muster

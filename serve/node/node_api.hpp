#pragma once

#include <filesystem>

#include "config/cluster_config.hpp"
#include "serve/api/server.hpp"
#include "serve/node/live_node.hpp"

namespace muster {

/// Parts of a node's API.
struct NodeApi {
  const ClusterConfig& config;
  const NodeConfig& node;              ///< has an `api`
  const std::filesystem::path& state;  ///< the node's folder
  api::TokenBook::Note warn;
  api::TokenBook::Clock clock;
};

/// Opens the tokens and the audit log, and says where and how the API is served.
Expected<api::ServerOptions, NodeError> api_options(const NodeApi& parts);

}  // namespace muster

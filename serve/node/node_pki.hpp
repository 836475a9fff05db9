#pragma once

#include <optional>
#include <string>

#include "actors/link/tls.hpp"
#include "actors/link/worker_link_options.hpp"
#include "config/cluster_config.hpp"
#include "serve/node/live_node.hpp"

// Which files and bounds the links of a node have, by its cluster's config.

namespace muster {

/// Towards other nodes: both ends are of the node authority.
TlsFiles node_tls(const ClusterConfig& config, const std::string& node);
/// Towards workers: they are of the worker authority.
TlsFiles worker_listener_tls(const ClusterConfig& config, const std::string& node);

/// The bounds and times of the links to workers; their certificates are not in it.
WorkerLinkOptions worker_link_options(const ClusterConfig& config);

/// The fault of the node's certificates, before anything is started.
std::optional<Failure<NodeError>> check_node_tls(const ClusterConfig& config,
                                                 const std::string& node);

}  // namespace muster

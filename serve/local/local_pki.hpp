#pragma once

#include <filesystem>
#include <string>

#include "config/cluster_config.hpp"

namespace muster::local {

/// Makes the authorities of a local cluster and a certificate for each of its nodes, anew where
/// there are some. Empty, or why not.
std::string make_pki(const std::filesystem::path& dir, const ClusterConfig& config);

/// Gives every node a certificate that can be used now, and leaves no key that could make more of
/// them. New certificates need new authorities, which instances that were kept do not know: while
/// there are some, those that have run out stay. Empty, or why not.
std::string renew_pki(const ClusterConfig& config);

/// Deletes the key that makes members of the cluster, where every node has its certificate. Empty,
/// or why not.
std::string drop_node_authority(const ClusterConfig& config);

}  // namespace muster::local

#pragma once

#include "config/cluster_config.hpp"
#include "config/key_kinds.hpp"

namespace muster::config {

/// The keys of a cluster file outside of its nodes.
template <>
const std::vector<KeySpecOf<ClusterConfig>>& key_table<ClusterConfig>();

/// The keys of a [[node]].
template <>
const std::vector<KeySpecOf<NodeConfig>>& key_table<NodeConfig>();

/// Sets those defaults of masters that are others beside that provider.
void put_defaults_beside(const std::string& provider, MasterSettings& master);

}  // namespace muster::config

#pragma once

#include <cstdint>
#include <vector>

#include "config/cluster_config.hpp"
#include "serve/local/local_settings.hpp"

namespace muster::local {

/// The roles of a cluster spread over its nodes: sites first, then masters, then the cloud, each on
/// a node of its own as far as there are any. Where machines of one's own join, the cloud is with
/// the first site, whose API makes their tokens.
std::vector<NodeConfig> spread(const LocalRequest& request);

/// How many nodes such a cluster may have: one for each role. The cloud has none of its own where
/// machines of one's own join.
std::uint32_t most_nodes(const LocalRequest& request);

}  // namespace muster::local

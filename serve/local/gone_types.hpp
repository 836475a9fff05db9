#pragma once

#include <string>

#include "config/cluster_config.hpp"
#include "model/catalog.hpp"

namespace muster::local {

/// Which instance types the masters' stores still name and the catalog lacks, and what can be done:
/// a master cannot be read back without them. Empty: no such types. Nothing is changed; a store
/// that cannot be read is passed over, for its own node says more of it.
std::string gone_types_fault(const ClusterConfig& config, const Catalog& catalog);

}  // namespace muster::local

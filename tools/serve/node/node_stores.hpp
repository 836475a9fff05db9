#pragma once

#include <memory>
#include <string>

#include "model/catalog.hpp"
#include "model/roster.hpp"
#include "storage/store.hpp"
#include "tools/serve/node/live_node.hpp"

namespace muster {

/// The stores of a node's roles, null for roles that it does not have, and the roster in all of
/// them.
struct NodeStores {
  std::unique_ptr<Store> cloud;
  std::unique_ptr<Store> master;
  std::unique_ptr<Store> site;
  ClusterRoster roster;
};

/// Opens them and settles the numbers of the cluster's sites and masters: names that a store knows
/// keep theirs, new ones get the next. Stores that have no roster yet go by the order of the
/// cluster's file. Refused is what would make an id mean somebody else: stores that contradict each
/// other, and a name missing from the file for which there still are jobs or instances.
Expected<NodeStores, NodeError> open_stores(const NodeSetup& setup, const Catalog& catalog,
                                            const std::filesystem::path& state);

/// Sites and masters in the order of the cluster's file.
ClusterNames names_of(const ClusterConfig& config);

}  // namespace muster

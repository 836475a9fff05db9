#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/catalog.hpp"
#include "model/roster.hpp"
#include "serve/node/live_node.hpp"
#include "storage/stores/store.hpp"

namespace muster {

/// A file in a node's folder that lets the node make the stores that it lacks. It is gone when all
/// of them are there.
inline constexpr const char* kStorePermit = "new-store";
/// Its text when the whole cluster begins: then the given numbers are known without asking.
inline constexpr const char* kFirstStores = "first\n";

/// The stores of a node's roles, null for roles that it does not have, and the roster in all of
/// them.
struct NodeStores {
  std::unique_ptr<Store> cloud;
  std::unique_ptr<Store> master;
  std::unique_ptr<Store> site;
  ClusterRoster roster;
  bool numbered = false;  ///< something in them has its meaning by these numbers
};

/// Opens them, makes those that are not there when that is permitted, and settles the numbers of
/// the cluster's sites and masters: names that a store knows keep theirs, new ones get the next.
/// Stores that have no roster yet go by the order of the cluster's file. Refused is what would make
/// an id mean somebody else: stores that contradict each other, and a name missing from the file
/// for which there still are jobs or instances.
Expected<NodeStores, NodeError> open_stores(const NodeSetup& setup, const Catalog& catalog,
                                            const std::filesystem::path& state);

/// Gives the node's stores, which no process has open, the numbers that another node has. Refused
/// when something in one of them would mean somebody else then.
std::optional<Failure<NodeError>> take_roster(const NodeSetup& setup, const Catalog& catalog,
                                              const ClusterRoster& roster,
                                              const std::filesystem::path& state);

/// Sites and masters in the order of the cluster's file.
ClusterNames names_of(const ClusterConfig& config);

}  // namespace muster

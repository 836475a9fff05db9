#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/lrasched/period_placement.hpp"

namespace muster::lrasched {

/// Nodes that may be added, in their order.
struct NewNodes {
  std::span<const Amounts> capacities;
  std::uint32_t kind = 0;  ///< of each
};

/// Phase 2 as printed: nodes are added in the order given, and each is filled with replicas of the
/// services that are not placed, the highest fitness relative to it first, until no replica fits.
/// Ends when all are placed or there is no further node. A service may be left in part: `whole`
/// says which are placed. Returns how many nodes were added.
std::uint32_t fill_new_nodes(NodeRooms& rooms, std::span<const Service> services,
                             const Demand& demand, const NewNodes& new_nodes,
                             PeriodPlacement& placement);

/// A kind of node that can be had for a price.
struct NodeOffer {
  Amounts capacity{};
  double price = 0;                 ///< above 0
  std::uint32_t most = 0xffffffff;  ///< nodes of it that there are
  std::uint32_t kind = 0;           ///< of its nodes
  std::uint32_t zone = 0;           ///< likewise
};

/// Cause of a refusal, of which a user can change something.
enum class RefusalCause : std::uint8_t {
  dimension,  ///< no offer holds one replica: it lacks most of the dimension named
  limit,      ///< the most replicas on a node: with a higher limit it would be placed
  nodes       ///< further nodes would be needed than may be had
};

/// A service that finds no room, old or new.
struct ServiceRefusal {
  std::uint32_t service = 0;
  RefusalCause cause = RefusalCause::nodes;
  std::size_t dim = 0;  ///< where the cause is a dimension
  friend bool operator==(const ServiceRefusal&, const ServiceRefusal&) = default;
};

/// Nodes to buy, and services that are refused.
struct Purchases {
  std::vector<std::uint32_t> offers;  ///< of each new node; their numbers follow the old ones'
  std::vector<ServiceRefusal> refused;
};

/// Demand, rules and prices of Phase 2.
struct PurchaseRules {
  std::span<const NodeOffer> offers;
  std::uint32_t most_nodes = 0xffffffff;                        ///< new ones
  double most_price = std::numeric_limits<double>::infinity();  ///< of all new ones together
  /// Share of the price of a replica that its service's being spread over zones may add.
  double spread = 0;
};

/// New nodes that hold nothing are not bought; the others move up. O(nodes and spots).
void give_back_empty(NodeRooms& rooms, const PurchaseRules& rules, PeriodPlacement& placement,
                     Purchases& purchases);

/// Phase 2 where nodes are rented: replicas of services that are not placed go to room of old nodes
/// first, then nodes are bought one by one, always of the offer whose price is the least for the
/// worth of the replicas that it would hold. A replica's worth is the least for which an offer
/// holds it that holds as many others of its service as it can. Where offers are of several zones,
/// a node holds no more of a service than its zone lacks of an even share, if that costs no more
/// than `spread` says. Where nodes come to an end, whole
/// services are placed in the period's order, and what stays empty is not bought. Each service ends
/// whole or where it was before.
Purchases buy_nodes(NodeRooms& rooms, std::span<const Service> services, const Demand& demand,
                    const PurchaseRules& rules, PeriodPlacement& placement);

/// Phase 2 as printed, where nodes are rented: old ones are left as they are. Each new node is of
/// the offer that holds the first service without its places for the least, and takes what others
/// lack, too. `services` ask for what Phase 1 has left; each ends whole or where it was before.
Purchases buy_as_printed(NodeRooms& rooms, std::span<const Service> services, const Demand& demand,
                         const PurchaseRules& rules, PeriodPlacement& placement);

}  // namespace muster::lrasched

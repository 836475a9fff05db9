#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/lrasched/fitness.hpp"
#include "schedulers/lrasched/node_rooms.hpp"
#include "schedulers/lrasched/service.hpp"

namespace muster::lrasched {

/// Which service of a period is placed first.
enum class ServiceOrder : std::uint8_t {
  decreasing,  ///< the largest measure (20): the paper's
  increasing,  ///< the smallest: more of them find room
  arrival      ///< their numbers
};

/// How Phase 1 places the services of a period.
struct PlacementRules {
  Fit fit = Fit::balanced;
  ServiceOrder order = ServiceOrder::increasing;
  /// A service that has waited for more periods than these goes before the others of its priority,
  /// the longest wait first. With the smallest first, large ones would starve in a full cluster.
  std::uint32_t patience = 3;
};
/// Algorithm 3 of LRASched as printed.
inline constexpr PlacementRules kPaperRules{Fit::dot, ServiceOrder::decreasing, 0xffffffff};

/// The measure (20) of LRASched: the service's part of the demand, summed over dimensions.
double measure_of(const Service& service, const Amounts& demand);

/// The numbers of the services in the order in which they are placed: by priority, then those that
/// have waited for long, then by the rules; the lower number of two equal ones first.
std::vector<std::uint32_t> placing_order(std::span<const Service> services, const Demand& demand,
                                         const PlacementRules& rules);

/// Scale for the fitness of the next service.
Fitness::Scale scale_of(const Demand& demand, const NodeRooms& rooms);

/// Where the services of a period are.
struct PeriodPlacement {
  std::vector<Spots> spots;  ///< of each service, replicas that stood before included
  std::vector<char> whole;   ///< of each: all of its replicas have a node
  std::uint32_t placed() const;
};

/// Phase 1: places each service whole or not at all, and takes the room. `standing`: where replicas
/// of each stand already; empty: nowhere.
PeriodPlacement place_period(NodeRooms& rooms, std::span<const Service> services,
                             const Demand& demand, const PlacementRules& rules,
                             std::vector<Spots> standing = {});

}  // namespace muster::lrasched

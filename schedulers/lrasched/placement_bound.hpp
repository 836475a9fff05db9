#pragma once

#include <cstdint>
#include <span>

#include "schedulers/lrasched/period_placement.hpp"

namespace muster::lrasched {

/// Which bound is computed.
struct BoundEffort {
  /// Services times nodes up to which the linear program is solved: it takes minutes for 500
  /// services on 100 nodes of six dimensions.
  std::uint64_t most_lp_cells = 20'000;
  std::uint32_t steps = 600;  ///< of the subgradient, where the program is too large
};

/// No placement on these rooms has more whole services. With prices pi >= 0 of room, each service
/// brings what it is worth above its cheapest places, and the room its price: the least of these
/// sums over prices, which the linear program finds, and a subgradient comes near to (1.0 to 1.5%).
/// `known`: services that some placement has.
double placement_bound(const NodeRooms& rooms, std::span<const Service> services,
                       std::uint32_t known, const BoundEffort& effort);

/// The two ways, for comparison.
double bound_by_program(const NodeRooms& rooms, std::span<const Service> services);
double bound_by_prices(const NodeRooms& rooms, std::span<const Service> services,
                       std::uint32_t known, std::uint32_t steps);

}  // namespace muster::lrasched

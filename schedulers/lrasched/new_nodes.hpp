#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/lrasched/period_placement.hpp"

namespace muster::lrasched {

/// Phase 2 as printed: nodes are added in the order given, and each is filled with replicas of the
/// services that are not placed, the highest fitness relative to it first, until no replica fits.
/// Ends when all are placed or there is no further node. A service may be left in part: `whole`
/// says which are placed. Returns how many nodes were added.
std::uint32_t fill_new_nodes(NodeRooms& rooms, std::span<const Service> services,
                             const Demand& demand, std::span<const Amounts> new_nodes,
                             PeriodPlacement& placement);

}  // namespace muster::lrasched

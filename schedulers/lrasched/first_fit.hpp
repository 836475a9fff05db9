#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/lrasched/period_placement.hpp"

namespace muster::lrasched {

/// The baseline FFD of LRASched in two readings, both with at most one replica of a service on a
/// node (anti-affinity), the largest measure first, whole services or nothing.
enum class FirstFit : std::uint8_t {
  number,  ///< the first node that has room
  dot      ///< the node of the largest dot product: near the paper's figures
};

/// Places the services of a period, and takes the room. `standing`: where replicas of each stand
/// already; empty: nowhere.
PeriodPlacement place_first_fit(NodeRooms& rooms, std::span<const Service> services,
                                const Demand& demand, FirstFit kind,
                                std::vector<Spots> standing = {});

}  // namespace muster::lrasched

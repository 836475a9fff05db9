#pragma once

#include <cstddef>
#include <cstdint>

#include "model/cluster_state.hpp"

namespace muster {

/// Instances and rent that a master's caps count: of an owned fleet and rented instances only the
/// rented ones.
struct Capped {
  std::size_t instances = 0;
  std::int64_t nano_usd_h = 0;
};

/// Goes through the instances only where some are the master's own.
inline Capped capped(const ClusterState& state, bool owns_fleet) {
  Capped sum{state.instances().size(), state.sums().nano_usd_h};
  if (!owns_fleet) return sum;
  for (const InstanceRow& row : state.instances()) {
    if (!row.owned) continue;
    --sum.instances;
    sum.nano_usd_h -= row.price.nano_usd_h();
  }
  return sum;
}

}  // namespace muster

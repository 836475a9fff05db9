#pragma once

#include <cstddef>
#include <cstdint>

#include "model/cluster_state.hpp"

namespace muster {

/// Whether the cloud counts the machines of some types, as those of one's own, and not those of
/// others, be they to be had now or not, as PricedTypes::counted() has it. O(offerings).
inline bool has_machines_beside(const ClusterState& state) {
  bool any_counted = false, any_other = false;
  for (const OfferingRow& row : state.offerings().rows()) {
    (row.free ? any_counted : any_other) = true;
  }
  return any_counted && any_other;
}

/// Instances and rent that a master's caps count: of an owned fleet and rented instances only the
/// rented ones. Of counted machines beside rented instances the rent alone counts.
struct Capped {
  std::size_t instances = 0;
  std::int64_t nano_usd_h = 0;
};

/// Goes through the instances only where some are the master's own. O(offerings) beside that.
inline Capped capped(const ClusterState& state, bool owns_fleet) {
  Capped sum{state.instances().size(), state.sums().nano_usd_h};
  if (has_machines_beside(state)) {
    for (const OfferingRow& row : state.offerings().rows()) {
      if (row.free) sum.instances -= state.sums().count(row.key.type, row.key.market);
    }
  }
  if (!owns_fleet) return sum;
  for (const InstanceRow& row : state.instances()) {
    if (!row.owned) continue;
    --sum.instances;
    sum.nano_usd_h -= row.price.nano_usd_h();
  }
  return sum;
}

}  // namespace muster

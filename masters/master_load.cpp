#include "masters/master_load.hpp"

#include <algorithm>

#include "masters/instances/capped.hpp"

// The load of a master is that of its scarcest good: its queue, its instances' capacity with what
// the caps still allow, or its money. So a site that avoids loaded masters avoids each kind of
// shortage.

namespace muster {
double master_load(const MasterFacts& facts, const MasterSettings& settings, bool fixed_fleet) {
  const ClusterState& state = facts.state;
  const MasterCaps& caps = settings.caps;
  const FleetSums& sums = state.sums();
  const std::size_t waiting = state.pending().size();
  const Resources wanted = state.waiting_demand() + sums.committed.value();
  Resources capacity = sums.open_capacity.value();
  double load = static_cast<double>(waiting) / static_cast<double>(settings.queue_capacity);
  if (fixed_fleet) return std::max(load, wanted.dominant_share(capacity));
  const Capped rented = capped(state, settings.rent_beyond_fleet);
  if (caps.max_instances > rented.instances) {
    const auto more = static_cast<double>(caps.max_instances - rented.instances);
    for (Resource kind : kAllResources) capacity[kind] += more * state.catalog().largest()[kind];
  }
  if (caps.max_instances > 0) load = std::max(load, wanted.dominant_share(capacity));
  if (caps.max_usd_h > 0 && waiting > 0) {
    load = std::max(load, Price::from_nano_usd_h(rented.nano_usd_h).usd_h() / caps.max_usd_h);
  }
  return load;
}

}  // namespace muster

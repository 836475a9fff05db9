// The part of a master that keeps a fixed fleet: the instances it is meant to have, whatever its
// policy thinks of them.

#include "masters/master.hpp"

namespace muster {

void Master::keep_fleet(Instant now) {
  Plan missing;
  for (const FleetShare& share : fleet_) {
    std::uint32_t have = 0;
    for (const InstanceRow& row : state_.instances()) {
      have += row.type == share.type && row.market == share.market;
    }
    for (; have < share.count; ++have) {
      missing.launches.push_back({share.type, share.market, {CauseCode::fleet, 0}});
    }
  }
  fleet_is_short_ = !missing.launches.empty();
  if (!fleet_is_short_) return;
  PlanLimits allowed = limits(now);
  allowed.fixed_fleet = false;
  order_launches(missing, check_plan(missing, state_, allowed), now);
}

/// A user does not want the instance any more: nothing takes its place.
void Master::shrink_fleet(const InstanceRow& drained) {
  for (FleetShare& share : fleet_) {
    if (share.type != drained.type || share.market != drained.market || share.count == 0) continue;
    --share.count;
    return;
  }
}

}  // namespace muster

#include "masters/fleet_keeper.hpp"

#include <utility>

// A fixed fleet is kept by counting: what there should be of each type on each market, less what
// there is. The caps hold for it as for plans; the rule that nothing is rented beside it does not.

namespace muster {

FleetKeeper::FleetKeeper(const MasterRecorder& recorder, CloudOrders& cloud, const PlanRules& rules,
                         Fleet fleet)
    : recorder_(recorder), cloud_(cloud), rules_(rules), fleet_(std::move(fleet)) {}

void FleetKeeper::keep(Instant now) {
  const ClusterState& state = recorder_.facts().state;
  Plan missing;
  for (const FleetShare& share : fleet_) {
    for (auto have = state.sums().count(share.type, share.market); have < share.count; ++have) {
      missing.launches.push_back({share.type, share.market, {CauseCode::fleet, 0}});
    }
  }
  is_short_ = !missing.launches.empty();
  if (!is_short_) return;
  PlanLimits allowed = rules_.limits(now);
  allowed.fixed_fleet = false;
  cloud_.launch(missing, check_plan(missing, state, allowed), now);
}

void FleetKeeper::shrink(const InstanceRow& drained) {
  for (FleetShare& share : fleet_) {
    if (share.type != drained.type || share.market != drained.market || share.count == 0) continue;
    --share.count;
    return;
  }
}

}  // namespace muster

#include "masters/fleet_keeper.hpp"

#include <utility>

// A fixed fleet is kept by counting: what there should be of each type on each market, less what
// there is. The caps hold for it as for plans; the rule that nothing is rented beside it does not.
// Where more is rented beside it only owned instances count as what there is, and the caps, which
// are for what is rented, do not hold.

namespace muster {

FleetKeeper::FleetKeeper(const MasterRecorder& recorder, CloudOrders& cloud, const PlanRules& rules,
                         Fleet fleet)
    : recorder_(recorder),
      cloud_(cloud),
      rules_(rules),
      configured_(std::move(fleet)),
      fleet_(configured_) {}

void FleetKeeper::keep(Instant now) {
  const ClusterState& state = recorder_.facts().state;
  Plan missing;
  for (const FleetShare& share : fleet_) {
    for (std::uint32_t have = count(share); have < share.count; ++have) {
      missing.launches.push_back({share.type, share.market, {CauseCode::fleet, 0}});
    }
  }
  is_short_ = !missing.launches.empty();
  if (!is_short_) return;
  PlanLimits allowed = rules_.limits(now);
  allowed.fixed_fleet = false;
  if (allowed.owns_fleet) allowed.caps = {};
  cloud_.launch(missing, check_plan(missing, state, allowed), now);
}

std::uint32_t FleetKeeper::count(const FleetShare& share) const {
  const ClusterState& state = recorder_.facts().state;
  if (!recorder_.memory().owns_fleet()) return state.sums().count(share.type, share.market);
  std::uint32_t owned = 0;
  for (const InstanceRow& row : state.instances()) {
    owned += row.owned && row.type == share.type && row.market == share.market ? 1 : 0;
  }
  return owned;
}

void FleetKeeper::shrink(const InstanceRow& drained) {
  if (recorder_.memory().owns_fleet() && !drained.owned) return;
  for (FleetShare& share : fleet_) {
    if (share.type != drained.type || share.market != drained.market || share.count == 0) continue;
    --share.count;
    return;
  }
}

}  // namespace muster

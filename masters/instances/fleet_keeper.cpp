#include "masters/instances/fleet_keeper.hpp"

#include <utility>

// A fixed fleet is kept by counting: the wanted number of each type on each market, less the
// present one. The caps hold for it as for plans; the rule that nothing is rented beside it does
// not. Where more is rented beside it only owned instances count as what there is, and the caps,
// which are for what is rented, do not hold.

namespace muster {

FleetKeeper::FleetKeeper(MasterRecorder& recorder, CloudOrders& cloud, const PlanRules& rules,
                         const FleetOrders& orders)
    : recorder_(recorder),
      cloud_(cloud),
      rules_(rules),
      configured_(orders.fleet),
      at_once_(std::max<std::size_t>(orders.at_once, 1)),
      fleet_(configured_) {
  recorder.listen(*this);
}

bool FleetKeeper::keep(Instant now) {
  const ClusterState& state = recorder_.facts().state;
  std::vector<Launch> missing;
  for (const FleetShare& share : fleet_) {
    for (std::uint32_t have = count(share); have < share.count; ++have) {
      missing.push_back({share.type, share.market, {CauseCode::fleet, 0}});
    }
  }
  is_short_ = !missing.empty();
  if (!is_short_) return false;
  PlanLimits allowed = rules_.limits(now);
  allowed.fixed_fleet = false;
  if (allowed.owns_fleet) allowed.caps = {};
  for (std::size_t begin = 0; begin < missing.size(); begin += at_once_) {
    const std::size_t end = std::min(missing.size(), begin + at_once_);
    Plan part;
    part.launches.assign(missing.begin() + static_cast<std::ptrdiff_t>(begin),
                         missing.begin() + static_cast<std::ptrdiff_t>(end));
    const CheckedPlan checked = check_plan(part, state, allowed);
    // Launches that may not be ordered now take nothing from later ones.
    if (std::ranges::all_of(checked.launches, [](const auto& no) { return no.has_value(); })) {
      continue;
    }
    cloud_.launch(part, checked, now);
    return end < missing.size();
  }
  return false;
}

std::uint32_t FleetKeeper::count(const FleetShare& share) const {
  const ClusterState& state = recorder_.facts().state;
  if (!recorder_.memory().owns_fleet()) return state.sums().count(share.type, share.market);
  const auto owned = owned_.find({share.type, share.market});
  return owned == owned_.end() ? 0 : owned->second;
}

void FleetKeeper::count_owned(const InstanceRow& row, int change) {
  if (row.owned) owned_[{row.type, row.market}] += static_cast<std::uint32_t>(change);
}

void FleetKeeper::before(const Event& event, const MasterFacts& facts) {
  if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
    if (launch->cause.code == CauseCode::fleet) ++owned_[{launch->type, launch->market}];
  } else if (const auto* refused = std::get_if<LaunchRefused>(&event.body)) {
    count_owned(*facts.state.find(refused->instance), -1);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    count_owned(*facts.state.find(gone->instance), -1);
  }
}

void FleetKeeper::restored(const MasterFacts& facts) {
  owned_.clear();
  for (const InstanceRow& row : facts.state.instances()) count_owned(row, 1);
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

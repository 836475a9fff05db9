// The part of a master that keeps a fixed fleet: the instances it is meant to have, whatever its
// policy thinks of them.

#include <algorithm>
#include <utility>

#include "masters/master.hpp"
#include "model/live_ids.hpp"

namespace muster {

void Master::keep_fleet(Instant now) {
  Plan missing;
  for (const FleetShare& share : fleet_) {
    for (auto have = state_.sums().count(share.type, share.market); have < share.count; ++have) {
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

bool Master::know_instances(const std::vector<InstanceId>& newest) {
  for (const InstanceId id : newest) {
    if (master_of(id) != master_of(InstanceId{first_instance_})) continue;
    memory_.skip_instances(id.value + 1);
  }
  return std::exchange(asks_numbers_, false);
}

double Master::load(std::uint64_t queue_capacity) const {
  const FleetSums& sums = state_.sums();
  const std::size_t instances = state_.instances().size();
  const std::size_t waiting = state_.pending().size();
  const Resources wanted = state_.waiting_demand() + sums.committed.value();
  Resources capacity = sums.open_capacity.value();
  double load = static_cast<double>(waiting) / static_cast<double>(queue_capacity);
  if (!fleet_.empty()) return std::max(load, wanted.dominant_share(capacity));
  if (settings_.caps.max_instances > instances) {
    const auto more = static_cast<double>(settings_.caps.max_instances - instances);
    for (Resource kind : kAllResources) capacity[kind] += more * catalog_->largest()[kind];
  }
  if (settings_.caps.max_instances > 0) load = std::max(load, wanted.dominant_share(capacity));
  if (settings_.caps.max_usd_h > 0 && waiting > 0) {
    load =
        std::max(load, Price::from_nano_usd_h(sums.nano_usd_h).usd_h() / settings_.caps.max_usd_h);
  }
  return load;
}

}  // namespace muster

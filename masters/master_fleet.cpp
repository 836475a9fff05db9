// The part of a master that keeps a fixed fleet: the instances it is meant to have, whatever its
// policy thinks of them.

#include <algorithm>

#include "masters/master.hpp"

namespace muster {
namespace {

/// As much as any type on offer has, kind by kind.
Resources largest_of(const Catalog& catalog) {
  Resources most;
  for (const InstanceType& type : catalog.types()) {
    for (Resource kind : kAllResources) most[kind] = std::max(most[kind], type.capacity[kind]);
  }
  return most;
}

}  // namespace

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

double Master::load(std::uint64_t queue_room) const {
  Resources wanted = state_.waiting_demand();
  Resources capacity;
  double usd_h = 0;
  for (const InstanceRow& row : state_.instances()) {
    wanted += row.committed;
    usd_h += row.price.usd_h();
    if (!row.released) capacity += (*catalog_)[row.type].capacity;
  }
  const std::size_t waiting = state_.pending().size();
  double load = static_cast<double>(waiting) / static_cast<double>(queue_room);
  if (!fleet_.empty()) return std::max(load, wanted.dominant_share(capacity));
  if (caps_.max_instances > state_.instances().size()) {
    const Resources most = largest_of(*catalog_);
    for (std::size_t i = state_.instances().size(); i < caps_.max_instances; ++i) capacity += most;
  }
  if (caps_.max_instances > 0) load = std::max(load, wanted.dominant_share(capacity));
  if (caps_.max_usd_h > 0 && waiting > 0) load = std::max(load, usd_h / caps_.max_usd_h);
  return load;
}

}  // namespace muster

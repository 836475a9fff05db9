#include "schedulers/muster/fleet_room.hpp"

#include <algorithm>

namespace muster::own {

FleetRoom::FleetRoom(const Catalog& catalog, Market market)
    : catalog_(&catalog), market_(market), types_(catalog), free_(types_) {
  types_.begin_fleet();
}

void FleetRoom::rebuild(const ClusterView& view) {
  for (const InstanceRow& row : view.state.instances()) {
    if (row.market == market_) types_.add_to_fleet(row.type, row.market);
  }
  types_.learn(view.state);
  free_ = FreeCapacityIndex(types_);
  free_.set_ready_only(true);
  there_.clear();
  capacity_ = {};
  for (const InstanceRow& row : view.state.instances()) {
    if (row.market == market_) follow_row(view, row.id);
  }
}

bool FleetRoom::follow(const ClusterView& view, InstanceId id) {
  const InstanceRow* row = view.state.find(id);
  if (row != nullptr && row->market != market_) return false;
  // Another type: other shares of what is the largest, by which instances are ordered.
  if (row != nullptr && types_.add_to_fleet(row->type, row->market)) {
    rebuild(view);
    return true;
  }
  follow_row(view, id);
  return false;
}

void FleetRoom::follow_row(const ClusterView& view, InstanceId id) {
  free_.follow(view.state, types_, id, view.now);
  const InstanceRow* row = view.state.find(id);
  const bool open = row != nullptr && !row->released && row->phase == InstancePhase::ready;
  const auto found = there_.find(id);
  if (open == (found != there_.end())) return;
  if (open) {
    capacity_ += there_.emplace(id, (*catalog_)[row->type].capacity).first->second;
    return;
  }
  capacity_ -= found->second;
  there_.erase(found);
  if (const auto kept = kept_.find(id); kept != kept_.end()) drop(kept->second);
}

void FleetRoom::count_long(const Resources& before, const Resources& now) {
  long_ -= before;
  long_ += now;
}

std::optional<InstanceId> FleetRoom::best_fit(ShapeId shape, const RoomRule& may_join) const {
  return free_.best_fit(market_, {&shape, 1}, types_, may_join);
}

Resources FleetRoom::all_free(const ClusterState& state) const {
  Resources free;
  for (const auto& [id, capacity] : there_) free += capacity - state.find(id)->committed;
  return free;
}

void FleetRoom::take(InstanceId id, ShapeId shape) {
  free_.take(id, {&shape, 1}, types_);
}

void FleetRoom::give_back(InstanceId id, ShapeId shape) {
  free_.give_back(id, {&shape, 1}, types_);
}

bool FleetRoom::fits_on(const ClusterState& state, InstanceId id, ShapeId shape) const {
  const InstanceRow& row = *state.find(id);
  const InstanceType& type = (*catalog_)[row.type];
  const auto asked = types_.together({&shape, 1}, types_.group_of(row.type));
  return asked && (row.committed + *asked).fits_in(type.capacity);
}

void FleetRoom::keep(InstanceId id, TaskId task) {
  kept_.emplace(id, task);
  instance_of_.emplace(task, id);
}

void FleetRoom::drop(TaskId task) {
  const auto found = instance_of_.find(task);
  if (found == instance_of_.end()) return;
  kept_.erase(found->second);
  instance_of_.erase(found);
}

std::vector<std::string> FleetRoom::type_names() const {
  std::vector<std::string> names;
  for (TypeId type : types_.types(market_)) names.push_back((*catalog_)[type].name);
  return names;
}

void FleetRoom::restore_types(const std::vector<std::string>& names, const ClusterView& view) {
  // One that is in no catalog any more is left out: no instance is of it.
  for (const std::string& name : names) {
    if (const auto type = catalog_->find(name)) types_.add_to_fleet(*type, market_);
  }
  rebuild(view);
}

bool long_may_start(const Resources& asked, const Resources& held, const Resources& share) {
  return std::none_of(kAllResources.begin(), kAllResources.end(), [&](Resource kind) {
    return asked[kind] > kResourceEpsilon && held[kind] >= share[kind] - kResourceEpsilon;
  });
}

}  // namespace muster::own

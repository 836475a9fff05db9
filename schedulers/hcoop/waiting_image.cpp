// What is known of the waiting tasks, taken out of the indexes and put back.

#include <algorithm>

#include "schedulers/hcoop/waiting.hpp"

namespace muster::hcoop {

WaitingImage WaitingTasks::image(const ClusterState& state) const {
  WaitingImage image;
  image.next_order = next_order_;
  image.interruptions = interruptions_;
  std::vector<EntityId> ids;
  for (const TaskRow& row : state.pending()) {
    if (!known_to_wait(row)) continue;
    const Record& record = records_[row.slot];
    image.orders.emplace_back(row.id, record.order);
    if (record.entity != kNoEntity) ids.push_back(record.entity);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::sort(ids.begin(), ids.end(),
            [this](EntityId a, EntityId b) { return entities_[a].order < entities_[b].order; });
  for (EntityId id : ids) {
    const Entity& entity = entities_[id];
    WaitingImage::Unit& unit = image.units.emplace_back();
    for (Slot slot : entity.tasks) unit.tasks.push_back(records_[slot].task);
    unit.queue = entity.queue;
    unit.gang = entity.gang.valid();
    unit.may_spill = entity.may_spill;
    unit.queued = entity.queued;
    unit.placed = entity.placed;
    unit.refused = entity.refused;
    unit.deviation = entity.deviation;
  }
  return image;
}

bool WaitingTasks::restore(const WaitingImage& image, const ClusterState& state,
                           const Offers& offers) {
  interruptions_ = image.interruptions;
  reset(state, offers);
  if (!restore_orders(image, state)) return false;
  for (const WaitingImage::Unit& unit : image.units) {
    if (!restore_unit(unit, state, offers)) return false;
  }
  for (const auto& [task, order] : image.orders) {
    const Record& record = records_[state.find(task)->slot];
    if (record.waits && record.entity == kNoEntity) arrivals_.push_back(state.find(task)->slot);
  }
  return true;
}

std::vector<EntityId> WaitingTasks::placed() const {
  std::vector<EntityId> ids;
  for (EntityId id = 0; id < entities_.size(); ++id) {
    if (entities_[id].placed) ids.push_back(id);
  }
  return ids;
}

/// Who waits and since when, and where the others are; nothing is packed.
bool WaitingTasks::restore_orders(const WaitingImage& image, const ClusterState& state) {
  next_order_ = image.next_order;
  const auto id_of = [&](Slot on) { return on == kNoSlot ? InstanceId{} : state.instance(on).id; };
  for (const JobRow& job : state.jobs()) {
    for (Slot slot : job.tasks) {
      records_[slot].planned = id_of(state.task(slot).target);
      records_[slot].at = id_of(state.task(slot).at);
    }
  }
  if (image.orders.size() != state.pending().size()) return false;
  for (const auto& [task, order] : image.orders) {
    const TaskRow* row = state.find(task);
    if (row == nullptr || row->phase != TaskPhase::pending || order == 0) return false;
    Record& record = records_[row->slot];
    record.order = order;
    record.waits = !state.job(row->job).given_up;
    waiting_ += record.waits;
  }
  return true;
}

bool WaitingTasks::restore_unit(const WaitingImage::Unit& unit, const ClusterState& state,
                                const Offers& offers) {
  std::vector<Slot> slots;
  for (TaskId task : unit.tasks) {
    const TaskRow* row = state.find(task);
    if (row == nullptr || !records_[row->slot].waits) return false;
    Record& record = records_[row->slot];
    if (record.entity != kNoEntity) return false;
    record.queue = unit.queue;
    record.may_spill = unit.may_spill;
    slots.push_back(row->slot);
  }
  if (slots.empty() || static_cast<std::size_t>(unit.queue) >= kQueues) return false;
  const bool alone = slots.size() == 1 && !unit.gang;
  const Slot first = slots.front();
  const JobId job = state.job(state.task(first).job).job.id;
  const EntityId id = unit.gang ? new_gang(std::move(slots), unit.queue, job)
                                : new_entity(std::move(slots), unit.queue);
  if (unit.queued) enqueue(id, offers);
  Entity& entity = entities_[id];
  entity.placed = unit.placed;
  entity.refused = unit.refused;
  entity.deviation = unit.deviation;
  if (alone && params_.group > 1) {
    singles_[static_cast<std::size_t>(unit.queue)].insert(packable_of(first, offers));
    records_[first].indexed = true;
  }
  return true;
}

}  // namespace muster::hcoop

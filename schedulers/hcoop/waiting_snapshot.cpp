// Facts of the waiting tasks, taken out of the indexes and put back.

#include <algorithm>

#include "schedulers/hcoop/waiting.hpp"

// Ids of units are slots of a vector and differ after a restore: a snapshot lists units by the
// order of their queues, so that equal queues give equal text.

namespace muster::hcoop {

WaitingSnapshot WaitingTasks::snapshot(const ClusterState& state) const {
  WaitingSnapshot snapshot;
  snapshot.next_order = next_order_;
  snapshot.interruptions = interruptions_;
  std::vector<PlacementUnitId> ids;
  for (const TaskRow& row : state.pending()) {
    if (!known_to_wait(row)) continue;
    const Record& record = records_[row.slot];
    snapshot.orders.emplace_back(row.id, record.order);
    if (record.unit != kNoPlacementUnit) ids.push_back(record.unit);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::sort(ids.begin(), ids.end(), [this](PlacementUnitId a, PlacementUnitId b) {
    return units_[a].order < units_[b].order;
  });
  for (PlacementUnitId id : ids) {
    const PlacementUnit& unit = units_[id];
    WaitingSnapshot::Unit& saved = snapshot.units.emplace_back();
    for (Slot slot : unit.tasks) saved.tasks.push_back(records_[slot].task);
    saved.queue = unit.queue;
    saved.gang = unit.gang.valid();
    saved.may_fall_back = unit.may_fall_back;
    saved.queued = unit.queued;
    saved.placed = unit.placed;
    saved.refused = unit.refused;
    saved.deviation = unit.deviation;
  }
  return snapshot;
}

bool WaitingTasks::restore(const WaitingSnapshot& snapshot, const ClusterState& state,
                           const FeasibleTypes& feasible_types) {
  interruptions_ = snapshot.interruptions;
  reset(state, feasible_types);
  if (!restore_orders(snapshot, state)) return false;
  // Units after orders: a unit takes its place from that of its first task.
  for (const WaitingSnapshot::Unit& unit : snapshot.units) {
    if (!restore_unit(unit, state, feasible_types)) return false;
  }
  // Tasks that wait without a unit came after the last round; they are packed at the next one.
  for (const auto& [task, order] : snapshot.orders) {
    const Record& record = records_[state.find(task)->slot];
    if (record.waits && record.unit == kNoPlacementUnit)
      arrivals_.push_back(state.find(task)->slot);
  }
  return true;
}

std::vector<PlacementUnitId> WaitingTasks::placed() const {
  std::vector<PlacementUnitId> ids;
  for (PlacementUnitId id = 0; id < units_.size(); ++id) {
    if (units_[id].placed) ids.push_back(id);
  }
  return ids;
}

/// Restores which tasks wait and since when, and where the others are; no units are packed.
bool WaitingTasks::restore_orders(const WaitingSnapshot& snapshot, const ClusterState& state) {
  next_order_ = snapshot.next_order;
  const auto id_of = [&](Slot on) { return on == kNoSlot ? InstanceId{} : state.instance(on).id; };
  for (const JobRow& job : state.jobs()) {
    for (Slot slot : job.tasks) {
      records_[slot].planned = id_of(state.task(slot).target);
      records_[slot].at = id_of(state.task(slot).at);
    }
  }
  // A snapshot of another moment is of no use: the caller rebuilds from the state.
  if (snapshot.orders.size() != state.pending().size()) return false;
  for (const auto& [task, order] : snapshot.orders) {
    const TaskRow* row = state.find(task);
    if (row == nullptr || row->phase != TaskPhase::pending || order == 0) return false;
    Record& record = records_[row->slot];
    record.order = order;
    record.waits = !state.job(row->job).terminal_outcome;
    waiting_ += record.waits;
  }
  return true;
}

bool WaitingTasks::restore_unit(const WaitingSnapshot::Unit& saved, const ClusterState& state,
                                const FeasibleTypes& feasible_types) {
  std::vector<Slot> slots;
  for (TaskId task : saved.tasks) {
    const TaskRow* row = state.find(task);
    if (row == nullptr || !records_[row->slot].waits) return false;
    Record& record = records_[row->slot];
    // A task in two units would be placed twice.
    if (record.unit != kNoPlacementUnit) return false;
    record.queue = saved.queue;
    record.may_fall_back = saved.may_fall_back;
    slots.push_back(row->slot);
  }
  if (slots.empty() || static_cast<std::size_t>(saved.queue) >= kQueues) return false;
  const bool alone = slots.size() == 1 && !saved.gang;
  const Slot first = slots.front();
  const JobId job = state.job(state.task(first).job).job.id;
  const PlacementUnitId id = saved.gang ? new_gang(std::move(slots), saved.queue, job)
                                        : new_unit(std::move(slots), saved.queue);
  if (saved.queued) enqueue(id, feasible_types);
  PlacementUnit& unit = units_[id];
  unit.placed = saved.placed;
  unit.refused = saved.refused;
  unit.deviation = saved.deviation;
  // Only tasks alone look for company, and only where more than one may share an instance.
  if (alone && params_.group > 1) {
    singles_[static_cast<std::size_t>(saved.queue)].insert(packable_of(first, feasible_types));
    records_[first].indexed = true;
  }
  return true;
}

}  // namespace muster::hcoop

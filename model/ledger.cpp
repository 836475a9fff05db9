#include "model/ledger.hpp"

#include <algorithm>
#include <variant>

#include "model/check.hpp"

namespace muster {
namespace {

/// The instance whose bill the event changes, if any: its occupants, its phase or its being wanted.
struct AffectedInstance {
  const ClusterState& state;

  const InstanceRow* of_task(TaskId id) const {
    const TaskRow* task = state.find(id);
    return task != nullptr && task->at != kNoSlot ? &state.instance(task->at) : nullptr;
  }
  const InstanceRow* operator()(const InstanceReady& e) const { return state.find(e.instance); }
  const InstanceRow* operator()(const ReleaseDecided& e) const { return state.find(e.instance); }
  const InstanceRow* operator()(const TerminateIssued& e) const { return state.find(e.instance); }
  const InstanceRow* operator()(const InstanceGone& e) const { return state.find(e.instance); }
  const InstanceRow* operator()(const StartIssued& e) const { return state.find(e.instance); }
  const InstanceRow* operator()(const TaskLeft& e) const { return of_task(e.task); }
  const InstanceRow* operator()(const TaskFinished& e) const { return of_task(e.task); }
  const InstanceRow* operator()(const TaskFailed& e) const { return of_task(e.task); }
  template <class Other>
  const InstanceRow* operator()(const Other&) const {
    return nullptr;
  }
};

}  // namespace

std::string_view name_of(Idleness kind) {
  switch (kind) {
    case Idleness::boot:
      return "boot";
    case Idleness::idle:
      return "idle";
    case Idleness::drain:
      return "drain";
    case Idleness::fragmentation:
      return "fragmentation";
  }
  return "?";
}

void Ledger::observe(const Event& event, const ClusterState& before) {
  if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
    settled_until_.emplace(up->instance, event.at);
    return;
  }
  const InstanceRow* row = std::visit(AffectedInstance{before}, event.body);
  if (row == nullptr || !row->up) return;
  settle(*row, before, event.at);
  if (std::holds_alternative<InstanceGone>(event.body)) settled_until_.erase(row->id);
}

void Ledger::settle(const InstanceRow& row, const ClusterState& state, Instant now) {
  Instant& since = settled_until_.at(row.id);
  MUSTER_CHECK(now >= since, "time runs forward");
  const Money amount = Money::of(row.price, now - since);
  since = now;
  total_ += amount;
  if (row.phase == InstancePhase::booting) {
    book_idle(Idleness::boot, amount);
  } else if (!row.occupants.empty()) {
    split(row, state, amount);
  } else {
    book_idle(row.released ? Idleness::drain : Idleness::idle, amount);
  }
}

void Ledger::split(const InstanceRow& row, const ClusterState& state, Money amount) {
  const Resources& capacity = state.catalog()[row.type].capacity;
  const auto share_of = [&](Slot slot) {
    return state.demand(state.task(slot), row.type)->amount.dominant_share(capacity);
  };
  double shares = 0;
  for (Slot slot : row.occupants) shares += share_of(slot);
  const double scale = shares > 1 ? 1 / shares : 1;
  Money left = amount;
  for (Slot slot : row.occupants) {
    Money part = amount.part(share_of(slot) * scale);
    if (left < part) part = left;
    by_task_[state.task(slot).id] += part;
    left -= part;
  }
  book_idle(Idleness::fragmentation, left);
}

void Ledger::book_idle(Idleness kind, Money amount) {
  idle_[static_cast<std::size_t>(kind)] += amount;
}

Money Ledger::tasks() const {
  Money sum;
  for (const auto& [id, amount] : by_task_) sum += amount;  // exact, so the order does not matter
  return sum;
}

Money Ledger::task(TaskId id) const {
  const auto found = by_task_.find(id);
  return found == by_task_.end() ? Money{} : found->second;
}

}  // namespace muster

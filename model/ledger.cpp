#include "model/ledger.hpp"

#include <algorithm>
#include <variant>

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
    settled_until_.emplace(up->instance, up->billed_from.value_or(event.at));
    return;
  }
  const InstanceRow* row = std::visit(AffectedInstance{before}, event.body);
  if (row == nullptr || !row->up) return;
  const auto* gone = std::get_if<InstanceGone>(&event.body);
  const Instant until = gone != nullptr ? gone->billed_until.value_or(event.at) : event.at;
  settle(*row, before, until);
  if (gone == nullptr) return;
  give_back(*row, until);
  settled_until_.erase(row->id);
}

/// What was booked for the time after the end of the bill, which the master heard of late.
void Ledger::give_back(const InstanceRow& row, Instant until) {
  const Instant booked = settled_until_.at(row.id);
  if (booked <= until) return;
  const Money surplus = Money::of(row.price, booked - until);
  total_ -= surplus;
  idle_[static_cast<std::size_t>(Idleness::drain)] -= surplus;
}

void Ledger::settle(const InstanceRow& row, const ClusterState& state, Instant now) {
  Instant& since = settled_until_.at(row.id);
  if (now <= since) return;  // the cloud's clock may be ahead
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
  Money sum = closed_tasks_;
  for (const auto& [id, amount] : by_task_) sum += amount;  // exact, so the order does not matter
  return sum;
}

Money Ledger::accrued(const ClusterState& state, Instant now) const {
  Money sum = total_;
  for (const InstanceRow& row : state.instances()) {
    sum += accrued_by(row, now);
  }
  return sum;
}

/// What an instance that is up will be charged for the time since its last event.
Money Ledger::accrued_by(const InstanceRow& row, Instant now) const {
  const auto settled = settled_until_.find(row.id);
  if (settled == settled_until_.end() || settled->second >= now) return {};
  return Money::of(row.price, now - settled->second);
}

void Ledger::close(TaskId id) {
  const auto found = by_task_.find(id);
  if (found == by_task_.end()) return;
  closed_tasks_ += found->second;
  by_task_.erase(found);
}

Money Ledger::task(TaskId id) const {
  const auto found = by_task_.find(id);
  return found == by_task_.end() ? Money{} : found->second;
}

}  // namespace muster

#include "schedulers/muster/memory.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

// Everything here follows from events alone, so that a policy that was given the words of another
// and the events after them comes to an equal memory. Facts that a round wants to be remembered
// come back by the note of RoundDecided: whether it has to be held again, and whether all was
// looked at.

namespace muster::own {
namespace {

/// Waits of tasks that are gone are dropped when they exceed the tasks by this number, so that
/// dropping them costs no more than having kept them.
constexpr std::size_t kSpareWaits = 64;
/// No task waits by choice for longer.
constexpr double kMostWait_s = 1e9;

}  // namespace

std::optional<double> figure_of(const RoundNote& note, std::string_view name) {
  for (const auto& [known, value] : note.figures) {
    if (known == name) return value;
  }
  return std::nullopt;
}

void Memory::begin(TaskId task, Instant at) {
  Wait& wait = waits_[task];
  if (!wait.since) wait.since = at;
}

void Memory::end(TaskId task, Instant at) {
  Wait& wait = waits_[task];
  if (wait.since) wait.before += at - *wait.since;
  wait.since.reset();
}

/// Hosts whose tasks could not be moved, since tasks are on their way, are still to be looked at.
void Memory::forget_dirty(const ClusterState& state) {
  std::erase_if(dirty_, [&](InstanceId id) {
    const InstanceRow* row = state.find(id);
    return row == nullptr || std::all_of(row->planned.begin(), row->planned.end(), [&](Slot slot) {
             return state.task(slot).phase == TaskPhase::running;
           });
  });
}

/// A round that only gave empty instances back has looked at nothing: hosts that have changed are
/// still to be looked at.
void Memory::end_round(const RoundNote& note, Instant at, const ClusterState& state) {
  if (note.choice == kAtOnce) return;
  const std::optional<double> again = figure_of(note, kAgain);
  changed_ = news_ = false;
  again_ = again.has_value();
  if (!again_ || *again < kUnfinished) forget_dirty(state);
  refused_ = false;
  const std::optional<double> waits_s = figure_of(note, kLeftToWait);
  waits_until_.reset();
  if (waits_s) waits_until_ = at + from_seconds(std::clamp(*waits_s, 0.0, kMostWait_s));
  const auto& by_phase = state.work().tasks;
  const std::size_t tasks = std::accumulate(by_phase.begin(), by_phase.end(), std::size_t{0});
  if (waits_.size() > 2 * tasks + kSpareWaits) {
    std::erase_if(waits_, [&](const auto& entry) { return state.find(entry.first) == nullptr; });
  }
}

void Memory::touch_all_of(const Offering& changed, const ClusterView& view) {
  for (const InstanceRow& row : view.state.instances()) {
    const bool is_of = row.market == changed.market;
    if (is_of && view.catalog[row.type].name == changed.type) dirty_.insert(row.id);
  }
}

void Memory::observe(const Event& event, const ClusterView& view) {
  const auto note_news = [&] { changed_ = news_ = true; };
  const auto touch = [&](InstanceId instance) {
    if (instance.valid()) dirty_.insert(instance);
    note_news();
  };
  // The state has forgotten where a task was that has ended.
  const auto touch_host_of = [&](TaskId task) {
    const auto known = waits_.find(task);
    touch(known == waits_.end() ? InstanceId{} : known->second.on);
  };
  if (const auto* assigned = std::get_if<TaskAssigned>(&event.body)) {
    end(assigned->task, event.at);
    waits_[assigned->task].on = assigned->to;
    note_news();
  } else if (const auto* ready = std::get_if<InstanceReady>(&event.body)) {
    touch(ready->instance);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    dirty_.erase(gone->instance);
    note_news();
  } else if (const auto* finished = std::get_if<TaskFinished>(&event.body)) {
    touch_host_of(finished->task);
  } else if (const auto* failed = std::get_if<TaskFailed>(&event.body)) {
    touch_host_of(failed->task);
  } else if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
    end_round(round->note, event.at, view.state);
  } else if (const auto* part = std::get_if<PlanPartRefused>(&event.body)) {
    refused_ |= part->refusal.code == RefusalCode::group_refused;
    if (part->instance.valid()) dirty_.insert(part->instance);
    changed_ = true;
  } else if (const auto* refused = std::get_if<TaskRefused>(&event.body)) {
    refused_ |= refused->refusal.code == RefusalCode::group_refused;
    changed_ = true;
  } else if (const auto* offering = std::get_if<OfferingChanged>(&event.body)) {
    // At another price another instance may be better for what is on it.
    if (view.state.offerings().changed_terms()) touch_all_of(offering->change.offering, view);
    note_news();
  } else if (const auto* released = std::get_if<JobReleased>(&event.body)) {
    note_news();
    // Tasks that waited before the hold come to stand among others that never did.
    for (Slot slot : view.state.find(released->job)->tasks) {
      const TaskRow& row = view.state.task(slot);
      if (row.phase == TaskPhase::pending) begin(row.id, event.at);
    }
  } else if (!std::holds_alternative<Measured>(event.body)) {
    note_news();
  }
  // Tasks that have come to wait stand last among those that wait.
  for (Slot slot = view.state.last_pending(); slot != kNoSlot;) {
    const TaskRow& row = view.state.task(slot);
    const auto known = waits_.find(row.id);
    if (known != waits_.end() && known->second.since) break;
    begin(row.id, event.at);
    slot = row.queue.prev;
  }
}

Duration Memory::waited(TaskId task, Instant now) const {
  const auto found = waits_.find(task);
  if (found == waits_.end()) return {};
  const Wait& wait = found->second;
  return wait.before + (wait.since ? now - *wait.since : Duration{});
}

void Memory::restore(std::map<TaskId, Wait> waits, std::set<InstanceId> dirty, News news) {
  waits_ = std::move(waits);
  dirty_ = std::move(dirty);
  changed_ = news.changed;
  news_ = news.news;
  refused_ = news.refused;
  again_ = news.again;
  waits_until_ = news.waits_until;
}

}  // namespace muster::own

#include "schedulers/muster/memory.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace muster::own {
namespace {

/// Waits of tasks that are gone are dropped when there are so many more than tasks, so that
/// dropping them costs no more than having kept them.
constexpr std::size_t kSpareWaits = 64;

}  // namespace

void Memory::begin(TaskId task, Instant at) {
  Wait& wait = waits_[task];
  if (!wait.since) wait.since = at;
}

void Memory::end(TaskId task, Instant at) {
  Wait& wait = waits_[task];
  if (wait.since) wait.before += at - *wait.since;
  wait.since.reset();
}

void Memory::observe(const Event& event, const ClusterView& view) {
  const auto touch = [&](InstanceId instance) {
    if (instance.valid()) dirty_.insert(instance);
    changed_ = true;
  };
  // The state has forgotten where a task was that has ended.
  const auto touch_host_of = [&](TaskId task) {
    const auto known = waits_.find(task);
    touch(known == waits_.end() ? InstanceId{} : known->second.on);
  };
  if (const auto* assigned = std::get_if<TaskAssigned>(&event.body)) {
    end(assigned->task, event.at);
    waits_[assigned->task].on = assigned->to;
    changed_ = true;
  } else if (const auto* ready = std::get_if<InstanceReady>(&event.body)) {
    touch(ready->instance);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    dirty_.erase(gone->instance);
    changed_ = true;
  } else if (const auto* finished = std::get_if<TaskFinished>(&event.body)) {
    touch_host_of(finished->task);
  } else if (const auto* failed = std::get_if<TaskFailed>(&event.body)) {
    touch_host_of(failed->task);
  } else if (std::holds_alternative<RoundDecided>(event.body)) {
    dirty_.clear();
    changed_ = false;
    const auto& by_phase = view.state.work().tasks;
    const std::size_t tasks = std::accumulate(by_phase.begin(), by_phase.end(), std::size_t{0});
    if (waits_.size() > 2 * tasks + kSpareWaits) {
      std::erase_if(waits_,
                    [&](const auto& entry) { return view.state.find(entry.first) == nullptr; });
    }
  } else if (const auto* released = std::get_if<JobReleased>(&event.body)) {
    changed_ = true;
    // Tasks that waited before the hold come to stand among others that never did.
    for (Slot slot : view.state.find(released->job)->tasks) {
      const TaskRow& row = view.state.task(slot);
      if (row.phase == TaskPhase::pending) begin(row.id, event.at);
    }
  } else if (!std::holds_alternative<Measured>(event.body)) {
    changed_ = true;
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

void Memory::restore(std::map<TaskId, Wait> waits, std::set<InstanceId> dirty, bool changed) {
  waits_ = std::move(waits);
  dirty_ = std::move(dirty);
  changed_ = changed;
}

}  // namespace muster::own

#include "masters/instances/day_losses.hpp"

#include <algorithm>
#include <variant>

namespace muster {

struct DayLosses::Fold {
  DayLosses& d;
  const ClusterState& state;
  Instant at;

  void operator()(const TaskUnassigned& e) {
    const TaskRow* task = state.find(e.task);
    if (e.cause.code != CauseCode::spend_cap || task == nullptr) return;
    const JobRow& job = state.job(task->job);
    // A task that had all of a day's money needs more than there is: others are not to wait for it.
    const std::size_t own = job.job.gang ? job.tasks.size() : 1;
    const bool was_alone = state.instances().size() <= own;
    if (task->phase != TaskPhase::running || was_alone) return d.forget(e.task);
    const bool saved = job.job.checkpoints && !state.instance(task->at).own_checkpoints;
    if (saved) return d.forget(e.task);
    const Duration ran = std::max(at - task->started_at, d.lost_[e.task]);
    d.forget(e.task);
    d.lost_[e.task] = ran;
    d.lengths_.insert(ran);
  }
  void operator()(const TaskFinished& e) { d.forget(e.task); }
  void operator()(const JobFinished& e) {
    for (const Slot slot : state.find(e.job)->tasks) d.forget(state.task(slot).id);
  }
  template <class Other>
  void operator()(const Other&) {}
};

void DayLosses::absorb(const Event& event, const ClusterState& state) {
  std::visit(Fold{*this, state, event.at}, event.body);
}

void DayLosses::forget(TaskId task) {
  const auto known = lost_.find(task);
  if (known == lost_.end()) return;
  const auto length = lengths_.find(known->second);
  if (length != lengths_.end()) lengths_.erase(length);
  lost_.erase(known);
}

void DayLosses::restore(std::map<TaskId, Duration> book) {
  lost_ = std::move(book);
  lengths_.clear();
  for (const auto& [task, ran] : lost_) lengths_.insert(ran);
}

/// Twice the longest: a run that was cut off says only that more is needed.
Duration DayLosses::needed() const {
  return lengths_.empty() ? Duration::zero() : 2 * *lengths_.rbegin();
}

}  // namespace muster

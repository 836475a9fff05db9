#include "schedulers/packing/throughput_intake.hpp"

#include <algorithm>

// An observation is of use only when it is known who shared the instance while it was made:
// instances on which tasks come or go are left out as a whole.

namespace muster {

void ThroughputIntake::record(const Measured& measured, const ClusterState& state,
                              ThroughputLearner& learner) {
  note_values(measured.samples, state);
  times_ = measured.rounds();
  neighbours_.clear();
  any_gang_ = false;
  // Instances first: gangs look up the neighbours that were listed there.
  for (const InstanceRow& instance : state.instances()) {
    if (observed_completely(instance, state)) record_instance(instance, state, learner);
  }
  if (!any_gang_) return;
  for (const JobRow& job : state.jobs()) {
    if (is_gang(job)) record_gang(job, state, learner);
  }
}

void ThroughputIntake::note_values(std::span<const ThroughputSample> samples,
                                   const ClusterState& state) {
  ++reports_;
  for (const ThroughputSample& sample : samples) {
    const TaskRow* task = state.find(sample.task);
    if (task == nullptr || !(sample.normalized >= 0)) continue;
    if (task->slot >= seen_.size()) seen_.resize(task->slot + std::size_t{1});
    seen_[task->slot].report = reports_;
    seen_[task->slot].value = std::min(sample.normalized, 1.0);
  }
}

bool ThroughputIntake::observed_completely(const InstanceRow& instance,
                                           const ClusterState& state) const {
  // Somebody leaves or is still to come: the neighbours are not those of the plan.
  if (instance.planned.empty() || instance.planned.size() != instance.occupants.size()) {
    return false;
  }
  return std::all_of(instance.planned.begin(), instance.planned.end(), [&](Slot slot) {
    return state.task(slot).at == instance.slot && slot < seen_.size() &&
           seen_[slot].report == reports_;
  });
}

void ThroughputIntake::record_instance(const InstanceRow& instance, const ClusterState& state,
                                       ThroughputLearner& learner) {
  classes_.clear();
  for (Slot slot : instance.planned) classes_.push_back(state.task(slot).cls);
  std::sort(classes_.begin(), classes_.end());
  for (Slot slot : instance.planned) {
    const TaskRow& task = state.task(slot);
    Seen& seen = seen_[slot];
    seen.first = static_cast<std::uint32_t>(neighbours_.size());
    seen.count = static_cast<std::uint32_t>(classes_.size() - 1);
    // Its own class once less: the others of the same class are neighbours.
    const auto own = std::lower_bound(classes_.begin(), classes_.end(), task.cls);
    neighbours_.insert(neighbours_.end(), classes_.begin(), own);
    neighbours_.insert(neighbours_.end(), own + 1, classes_.end());
    if (is_gang(state.job(task.job))) {
      seen.placed = reports_;
      any_gang_ = true;
    } else {
      learner.learn(task.cls, std::span(neighbours_).subspan(seen.first, seen.count), seen.value,
                    times_);
    }
  }
}

void ThroughputIntake::record_gang(const JobRow& job, const ClusterState& state,
                                   ThroughputLearner& learner) {
  places_.clear();
  double lowest = 1;
  for (Slot slot : job.tasks) {
    // One task without a complete observation may be the slowest: the job says nothing.
    if (slot >= seen_.size() || seen_[slot].placed != reports_) return;
    const Seen& seen = seen_[slot];
    lowest = std::min(lowest, seen.value);
    places_.push_back(
        {state.task(slot).cls, std::span(neighbours_).subspan(seen.first, seen.count)});
  }
  learner.learn_gang(places_, lowest, times_);
}

}  // namespace muster

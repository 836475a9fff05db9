#include "model/whole_job.hpp"

#include <algorithm>

#include "model/check.hpp"

namespace muster {

std::uint32_t new_group(const Plan& plan) {
  std::uint32_t last = 0;
  const auto look = [&last](const auto& parts) {
    for (const auto& part : parts) last = std::max(last, part.group);
  };
  look(plan.launches);
  look(plan.places);
  look(plan.stops);
  look(plan.releases);
  return last + 1;
}

std::uint32_t stop_job(Plan& plan, const ClusterState& state, const WholeJob& whole) {
  const std::uint32_t group = new_group(plan);
  const std::size_t before = plan.stops.size();
  for (const Slot slot : whole.job.tasks) {
    const TaskRow& task = state.task(slot);
    // One that is stopping already and is to start elsewhere cannot be stopped: the check refuses
    // all of the group, and a later round asks again.
    if (task.target == kNoSlot) continue;
    plan.stops.push_back({task.id, whole.cause, task.attempt, group});
  }
  return plan.stops.size() > before ? group : 0;
}

std::uint32_t place_job(Plan& plan, const ClusterState& state, const WholeJob& whole,
                        std::span<const PlaceTarget> targets) {
  const std::uint32_t group = new_group(plan);
  std::size_t placed = 0;
  for (std::size_t i = 0; i < whole.job.size(); ++i) {
    const TaskRow& task = state.task(whole.job.tasks[i]);
    if (task.phase == TaskPhase::finished || task.phase == TaskPhase::failed) continue;
    MUSTER_CHECK(placed < targets.size(), "each task of a job that is placed whole has a target");
    plan.places.push_back({task.id, targets[placed++], whole.cause, {}, task.attempt, group});
  }
  return placed > 0 ? group : 0;
}

std::uint32_t restart_job(Plan& plan, const ClusterState& state, const WholeJob& whole) {
  const std::uint32_t group = new_group(plan);
  const std::size_t before = plan.places.size();
  for (const Slot slot : whole.job.tasks) {
    const TaskRow& task = state.task(slot);
    if (task.phase != TaskPhase::running || task.target == kNoSlot) continue;
    const InstanceId stays_on = state.instance(task.target).id;
    plan.places.push_back({task.id, stays_on, whole.cause, task.planned, task.attempt, group});
  }
  return plan.places.size() > before ? group : 0;
}

}  // namespace muster

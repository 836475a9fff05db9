#include "schedulers/muster/patience.hpp"

#include <algorithm>

namespace muster::own {
namespace {

/// No more than one job waits or runs.
bool is_alone(const ClusterState& state) {
  const WorkSums& work = state.work();
  return work.count(JobStanding::waiting) + work.count(JobStanding::starting) +
             work.count(JobStanding::running) <=
         1;
}

}  // namespace

/// A task may wait as long as its share of its age is not used up, so that new jobs start at once
/// and long ones pause for a small part of their lives. Without another job no task could come that
/// makes a place better: then running tasks are not paused, and new ones wait no longer than the
/// free wait. A gang waits no longer than each of its tasks may.
Duration left_to_wait(const RoundParts& parts, std::uint32_t number,
                      std::span<const std::uint32_t> together) {
  if (!parts.params.patient) return {};
  const RoundInput::Task& task = parts.input.tasks()[number];
  const JobRow& job = parts.view.state.job(parts.input.jobs()[task.job].slot);
  const bool alone = is_alone(parts.view.state);
  if (alone && parts.view.state.task(task.slot).attempt > 0) return {};
  const double age_s = to_seconds(parts.view.now - job.accepted_at);
  const double by_age_s = alone ? 0 : parts.params.wait_share * age_s;
  const Duration most =
      parts.params.free_wait + std::min(from_seconds(by_age_s), parts.params.most_wait);
  Duration left = most;
  for (const std::uint32_t one : together) {
    const Duration waited = parts.memory.waited(parts.input.tasks()[one].id, parts.view.now);
    left = std::min(left, most - waited);
  }
  return std::max(left, Duration{});
}

}  // namespace muster::own

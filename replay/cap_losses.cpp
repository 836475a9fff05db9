#include "replay/cap_losses.hpp"

#include <variant>

// Finds jobs that a daily spend cap will never let end. A job that is stopped on kMostDays
// different days without a task of it finishing in between makes no progress.

namespace muster::replay {

std::optional<JobId> CapLosses::observe(const Event& event) {
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    // A service has no run that a cap could cut short again and again.
    if (accepted->job.service() != nullptr) return std::nullopt;
    for (const TaskSpec& task : accepted->job.tasks) {
      places_[task.id] = {{}, accepted->job.id};
      tasks_[accepted->job.id].push_back(task.id);
    }
  } else if (const auto* start = std::get_if<StartIssued>(&event.body)) {
    const auto place = places_.find(start->task);
    if (place != places_.end()) place->second.instance = start->instance;
  } else if (const auto* finished = std::get_if<TaskFinished>(&event.body)) {
    // A finished task is progress that no cap takes away: the count begins anew.
    if (const auto place = places_.extract(finished->task)) losses_.erase(place.mapped().job);
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    losses_.erase(over->job);
    const auto tasks = tasks_.extract(over->job);
    if (!tasks) return std::nullopt;
    for (const TaskId task : tasks.mapped()) places_.erase(task);
  } else if (const auto* release = std::get_if<ReleaseDecided>(&event.body)) {
    if (release->capped_day >= 0) return stopped(release->instance, release->capped_day);
  }
  return std::nullopt;
}

std::optional<JobId> CapLosses::stopped(InstanceId instance, std::int32_t day) {
  std::optional<JobId> never;
  for (const auto& [task, place] : places_) {
    if (place.instance != instance) continue;
    Losses& losses = losses_[place.job];
    // A job with several tasks on capped instances loses one day, not one for each.
    if (losses.last_day == day) continue;
    losses.last_day = day;
    if (++losses.days == kMostDays) never = place.job;
  }
  return never;
}

}  // namespace muster::replay

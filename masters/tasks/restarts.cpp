#include "masters/tasks/restarts.hpp"

#include <variant>

namespace muster {

bool Restarts::release_due(Instant now) {
  bool any = false;
  while (!resting_.empty() && resting_.begin()->first <= now) {
    const auto [when, id] = *resting_.begin();
    resting_.erase(resting_.begin());
    const TaskRow* task = recorder_.facts().state.find(id);
    // One that its user holds is added again when it is released.
    if (task == nullptr || task->phase != TaskPhase::capped || task->rests_until != when) continue;
    recorder_.record(TaskReleased{id}, now);
    any = true;
  }
  return any;
}

std::optional<Instant> Restarts::next() const {
  return resting_.empty() ? std::nullopt : std::optional(resting_.begin()->first);
}

void Restarts::after(const Event& event, const MasterFacts& facts) {
  if (const auto* failed = std::get_if<TaskFailed>(&event.body)) {
    if (failed->retry_at) resting_.emplace(*failed->retry_at, failed->task);
  } else if (const auto* released = std::get_if<JobReleased>(&event.body)) {
    const JobRow& job = *facts.state.find(released->job);
    if (job.job.service() != nullptr) add_all(job, facts.state);
  }
}

void Restarts::restored(const MasterFacts& facts) {
  for (const JobId id : facts.services) add_all(*facts.state.find(id), facts.state);
}

void Restarts::add_all(const JobRow& job, const ClusterState& state) {
  for (const Slot slot : job.tasks) {
    const TaskRow& task = state.task(slot);
    if (task.rests_until > Instant{}) resting_.emplace(task.rests_until, task.id);
  }
}

}  // namespace muster

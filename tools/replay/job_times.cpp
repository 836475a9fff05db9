#include "tools/replay/job_times.hpp"

#include <variant>

#include "tools/report/words.hpp"

namespace muster::replay {

void JobFollower::apply(const Event& event) {
  const Instant now = event.at;
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    accept(accepted->job, now);
  } else if (const auto* refused = std::get_if<TaskRefused>(&event.body)) {
    const auto task = tasks_.find(refused->task);
    if (task != tasks_.end()) task->second.refusal = refused->refusal;
  } else if (const auto* assigned = std::get_if<TaskAssigned>(&event.body)) {
    assign(assigned->task);
  } else if (const auto* issued = std::get_if<StartIssued>(&event.body)) {
    start(issued->task);
  } else if (const auto* started = std::get_if<TaskStarted>(&event.body)) {
    set_running(started->task, true, now);
  } else if (const auto* stop = std::get_if<StopIssued>(&event.body)) {
    set_running(stop->task, false, now);
  } else if (const auto* finished = std::get_if<TaskFinished>(&event.body)) {
    finish(finished->task, now);
  } else if (const auto* failed = std::get_if<TaskFailed>(&event.body)) {
    fail(*failed, now);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    for (TaskId task : occupancy_.on(gone->instance)) set_running(task, false, now);
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    end(*over, now);
  }
  occupancy_.apply(event);
}

void JobFollower::accept(const Job& job, Instant now) {
  const auto [entry, first_part] = by_id_.emplace(job.id, times_.size());
  if (first_part) {
    times_.emplace_back();
    times_.back().job = &job;
    times_.back().accepted = now;
    gangs_.emplace_back();
  }
  JobTimes& times = times_[entry->second];
  times.parts.push_back(&job);
  times.tasks += job.tasks.size();
  ++times.open;
  for (const TaskSpec& task : job.tasks) {
    tasks_[task.id] = {entry->second, false, false, 0, Refusal{}};
  }
}

void JobFollower::assign(TaskId id) {
  const auto task = tasks_.find(id);
  if (task == tasks_.end()) return;
  task->second.refusal = Refusal{RefusalKind::not_now, RefusalCode::awaiting_instance, {}, 0, 0};
}

void JobFollower::start(TaskId id) {
  const auto task = tasks_.find(id);
  if (task == tasks_.end()) return;
  task->second.refusal.reset();
  JobTimes& times = times_[task->second.job];
  ++times.starts;
  if (++task->second.starts == 1) ++times.tasks_started;
}

void JobFollower::set_running(TaskId id, bool running, Instant now) {
  const auto task = tasks_.find(id);
  if (task == tasks_.end() || task->second.running == running) return;
  task->second.running = running;
  Gang& gang = gangs_[task->second.job];
  gang.running += running ? 1 : -1;
  refresh(task->second.job, now);
}

void JobFollower::finish(TaskId id, Instant now) {
  const auto task = tasks_.find(id);
  if (task == tasks_.end() || task->second.finished) return;
  Gang& gang = gangs_[task->second.job];
  if (task->second.running) --gang.running;
  ++gang.finished;
  task->second.running = false;
  task->second.finished = true;
  task->second.refusal.reset();
  refresh(task->second.job, now);
}

void JobFollower::fail(const TaskFailed& failed, Instant now) {
  set_running(failed.task, false, now);
  const auto task = tasks_.find(failed.task);
  if (task == tasks_.end()) return;
  task->second.refusal = failed.blameless
                             ? Refusal{RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0}
                             : Refusal{RefusalKind::broken, RefusalCode::task_failed, {}, 0, 0};
  times_[task->second.job].last_failure = failed.reason;
}

void JobFollower::end(const JobFinished& finished, Instant now) {
  const auto found = by_id_.find(finished.job);
  if (found == by_id_.end()) return;
  JobTimes& times = times_[found->second];
  // A job of parts is over with the last of them, and as the worst.
  if (times.open > 0) --times.open;
  if (!times.outcome || times.outcome == JobOutcome::completed) times.outcome = finished.outcome;
  if (times.open == 0) times.ended = now;
  times.mean_throughput = finished.mean_throughput;
  times.throughput_samples += finished.throughput_samples;
}

void JobFollower::refresh(std::size_t job, Instant now) {
  Gang& gang = gangs_[job];
  const bool executing = gang.running > 0 && gang.running + gang.finished == times_[job].tasks;
  if (executing && !gang.executing_since) {
    gang.executing_since = now;
  } else if (!executing && gang.executing_since) {
    times_[job].executing += now - *gang.executing_since;
    gang.executing_since.reset();
  }
}

std::string JobFollower::reason(const JobTimes& times) const {
  if (times.outcome == JobOutcome::failed) {
    return times.last_failure.empty() ? "failed" : "failed: " + times.last_failure;
  }
  for (const Job* part : times.parts) {
    for (const TaskSpec& spec : part->tasks) {
      const auto task = tasks_.find(spec.id);
      if (task != tasks_.end() && task->second.refusal) {
        return report::describe(*task->second.refusal);
      }
    }
  }
  return times.outcome ? std::string(name_of(*times.outcome)) : "not over when the log ends";
}

}  // namespace muster::replay

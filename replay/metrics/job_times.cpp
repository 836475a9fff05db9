#include "replay/metrics/job_times.hpp"

#include <algorithm>
#include <variant>

#include "replay/metrics/labels.hpp"

// Follows jobs from their acceptance to their end. A job may have parts at several masters, each
// with tasks of its own; it is over with the last part, and its memory is freed then, so that what
// is held grows with the jobs that are open and not with the log.

namespace muster::metrics {

void JobFollower::apply(const Event& event) {
  const Instant now = event.at;
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    accept(accepted->job, event.cell, now);
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
    // occupancy_ hears of the event only below, so that it still has the tasks.
    for (TaskId task : occupancy_.on(gone->instance)) set_running(task, false, now);
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    end(*over, event.cell, now);
  }
  occupancy_.apply(event);
}

bool JobFollower::Open::has_open_part() const {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.job; });
}

void JobFollower::accept(const Job& job, std::uint32_t cell, Instant now) {
  const auto [entry, first_part] = open_.try_emplace(job.id);
  Open& open = entry->second;
  if (first_part) {
    open.figures = figures_.size();
    open.accepted = now;
    figures_.emplace_back().id = job.id;
    figures_.back().service = job.service() != nullptr;
  }
  open.parts.push_back({cell, &job, {}});
  // A part knows the size of the whole: fewer tasks than that mean that other parts are to come.
  open.whole = std::max<std::size_t>(open.whole, job.task_count());
  figures_[open.figures].tasks += static_cast<std::uint32_t>(job.tasks.size());
  for (const TaskSpec& task : job.tasks) {
    // Entries of open_ keep their address while others come and go, which tasks_ relies on.
    tasks_[task.id] = {&open, false, false, 0, Refusal{}};
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
  JobFigures& figures = figures_[task->second.job->figures];
  ++figures.starts;
  if (++task->second.starts == 1) ++figures.tasks_started;
}

void JobFollower::set_running(TaskId id, bool running, Instant now) {
  const auto task = tasks_.find(id);
  // Stops and ends may both tell that a task runs no more.
  if (task == tasks_.end() || task->second.running == running) return;
  task->second.running = running;
  Open& job = *task->second.job;
  job.running += running ? 1 : -1;
  refresh(job, now);
}

void JobFollower::finish(TaskId id, Instant now) {
  const auto task = tasks_.find(id);
  if (task == tasks_.end() || task->second.finished) return;
  Open& job = *task->second.job;
  if (task->second.running) --job.running;
  ++job.finished;
  task->second.running = false;
  task->second.finished = true;
  task->second.refusal.reset();
  refresh(job, now);
}

void JobFollower::fail(const TaskFailed& failed, Instant now) {
  set_running(failed.task, false, now);
  const auto task = tasks_.find(failed.task);
  if (task == tasks_.end()) return;
  task->second.refusal = failed.blameless
                             ? Refusal{RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0}
                             : Refusal{RefusalKind::broken, RefusalCode::task_failed, {}, 0, 0};
  task->second.job->last_failure = failed.reason;
}

void JobFollower::end(const JobFinished& finished, std::uint32_t cell, Instant now) {
  const auto found = open_.find(finished.job);
  if (found == open_.end()) return;
  Open& open = found->second;
  JobFigures& figures = figures_[open.figures];
  // A job of parts is over with the last of them, and as the worst.
  if (!open.outcome || open.outcome == JobOutcome::completed) open.outcome = finished.outcome;
  figures.mean_throughput = finished.mean_throughput;
  figures.sampled = figures.sampled || finished.throughput_samples > 0;
  for (Part& part : open.parts) {
    if (part.cell == cell && part.job != nullptr) close(part, finished.outcome);
  }
  if (open.has_open_part()) return;
  figures.outcome = open.outcome;
  figures.jct = now - open.accepted;
  // All parts so far are over, but not all tasks have come: the entry stays for the others.
  if (figures.tasks < open.whole) return;
  if (figures.outcome != JobOutcome::completed) reasons_[open.figures] = reason_of(open);
  open_.erase(found);
}

/// Forgets the tasks of the part.
void JobFollower::close(Part& part, JobOutcome outcome) {
  if (outcome != JobOutcome::completed) part.reason = waiting_reason(*part.job);
  for (const TaskSpec& task : part.job->tasks) tasks_.erase(task.id);
  part.job = nullptr;
}

void JobFollower::refresh(Open& job, Instant now) {
  JobFigures& figures = figures_[job.figures];
  // Time counts as execution only while every task that is not finished runs; all else is idle
  // time.
  const bool executing = job.running > 0 && job.running + job.finished == figures.tasks;
  if (executing && !job.executing_since) {
    job.executing_since = now;
  } else if (!executing && job.executing_since) {
    figures.executing += now - *job.executing_since;
    job.executing_since.reset();
  }
}

/// Empty when no task of the part waits.
std::string JobFollower::waiting_reason(const Job& part) const {
  for (const TaskSpec& spec : part.tasks) {
    const auto task = tasks_.find(spec.id);
    if (task != tasks_.end() && task->second.refusal) {
      return describe(*task->second.refusal);
    }
  }
  return {};
}

std::string JobFollower::reason_of(const Open& job) const {
  if (job.outcome == JobOutcome::failed) {
    return job.last_failure.empty() ? "failed" : "failed: " + job.last_failure;
  }
  for (const Part& part : job.parts) {
    std::string reason = part.job != nullptr ? waiting_reason(*part.job) : part.reason;
    if (!reason.empty()) return reason;
  }
  return job.outcome ? std::string(name_of(*job.outcome)) : "not over when the log ends";
}

std::string JobFollower::reason(std::size_t job) const {
  if (const auto over = reasons_.find(job); over != reasons_.end()) return over->second;
  const auto open = open_.find(figures_[job].id);
  return open == open_.end() ? std::string{} : reason_of(open->second);
}

}  // namespace muster::metrics

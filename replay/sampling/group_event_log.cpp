#include "replay/sampling/group_event_log.hpp"

#include <algorithm>
#include <utility>

#include "model/constraint.hpp"

namespace muster::sampling {
namespace {

/// No task of a group starts twice: its workers neither fail nor go while jobs are open.
constexpr Attempt kOnlyAttempt = 1;

}  // namespace

void GroupEventLog::record(EventBody body, Instant now) {
  std::vector<Event> batch;
  batch.push_back({now, std::move(body)});
  // Replay's journal keeps at once: nothing has to wait for the callback.
  journal_->append(std::move(batch), [] {});
}

/// The most that any task asks for, kind by kind; absent for types that cannot hold every task.
std::vector<std::optional<Resources>> GroupEventLog::demand_by_type(const Job& job) const {
  std::vector<std::optional<Resources>> by_type;
  const Constraint constraint = Constraint::of(job.constraint);
  for (const InstanceType& type : catalog_->types()) {
    std::optional<Resources> most = Resources{};
    if (!constraint.admits(type)) most.reset();
    for (const TaskSpec& task : job.tasks) {
      if (!most) break;
      const FamilyDemand* demand = task.demands.on(type.family);
      if (demand == nullptr || !demand->amount.fits_in(type.capacity)) {
        most.reset();
        break;
      }
      for (Resource kind : kAllResources) {
        (*most)[kind] = std::max((*most)[kind], demand->amount[kind]);
      }
    }
    by_type.push_back(most);
  }
  return by_type;
}

SharedJob GroupEventLog::submit(Job job, Instant now) {
  const JobId id = job.id;
  // A job that is handed over again is taken once.
  if (open_.contains(id)) return nullptr;
  auto shared = std::make_shared<SampledJob>();
  shared->id = id;
  shared->tasks = shared->unlaunched = static_cast<std::uint32_t>(job.tasks.size());
  shared->estimate_s = to_seconds(job.runtime_hint.value_or(Duration{}));
  shared->demand = demand_by_type(job);
  // The event comes before the job can be found, as with a master.
  record(JobAccepted{job}, now);
  const std::size_t tasks = job.tasks.size();
  open_[id] = {std::move(job), tasks};
  return shared;
}

void GroupEventLog::refuse(JobId id, const Refusal& refusal, Instant now) {
  for (const TaskSpec& task : job(id).tasks) record(TaskRefused{task.id, refusal}, now);
  record(JobTerminating{id, JobOutcome::refused}, now);
  close(id, JobOutcome::refused, now);
}

void GroupEventLog::cancel(JobId id, Instant now) {
  record(JobTerminating{id, JobOutcome::cancelled}, now);
  close(id, JobOutcome::cancelled, now);
}

/// Such a group knows rigid tasks only.
Grant GroupEventLog::granted(const TaskSpec& task, TypeId on) const {
  return Grant::of(task.demands.on((*catalog_)[on].family)->amount);
}

void GroupEventLog::assign(const TaskRef& ref, const Host& to, CauseCode why, Instant now) {
  const TaskSpec& task = job(ref.job).tasks[ref.index];
  record(TaskAssigned{task.id, to.instance, {why, 0}, granted(task, to.type)}, now);
}

TaskOrder GroupEventLog::start(const TaskRef& ref, const Host& on, Instant now) {
  const Job& job = open_.at(ref.job).job;
  const TaskSpec& task = job.tasks[ref.index];
  const Grant grant = granted(task, on.type);
  record(StartIssued{task.id, on.instance, kOnlyAttempt, grant}, now);
  jobs_[task.id] = ref.job;
  return order_of(job, task, kOnlyAttempt, grant.amount);
}

void GroupEventLog::started(const WorkerReport& report, Instant now) {
  record(TaskStarted{report.task, report.attempt, report.fetch, report.build}, now);
}

std::optional<JobId> GroupEventLog::finished(const WorkerReport& report, Instant now) {
  record(TaskFinished{report.task, report.attempt, {}}, now);
  const auto task = jobs_.find(report.task);
  const JobId job = task->second;
  jobs_.erase(task);
  if (--open_.at(job).left > 0) return std::nullopt;
  return job;
}

void GroupEventLog::close(JobId id, JobOutcome outcome, Instant now) {
  record(JobFinished{id, outcome}, now);
  open_.erase(id);
}

}  // namespace muster::sampling

#include "masters/master.hpp"

#include <utility>

namespace muster {
namespace {

/// Completed jobs that may still have to be told to sites.
constexpr std::size_t kMaxTold = 1000;

/// The row of the attempt that the news speaks of; null when it is an old or unknown one.
const TaskRow* present_attempt(const ClusterState& state, TaskId id, Attempt attempt) {
  const TaskRow* row = state.find(id);
  return row != nullptr && row->attempt == attempt && row->at != kNoSlot ? row : nullptr;
}

/// What the tasks are told for which the cloud did not give the instance.
Refusal refusal_of(CloudReason reason, const InstanceRow& row) {
  Refusal refusal{RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0};
  if (reason == CloudReason::quota) refusal.code = RefusalCode::cloud_quota;
  if (reason == CloudReason::throttled) refusal.code = RefusalCode::cloud_throttled;
  if (reason == CloudReason::failed) refusal.code = RefusalCode::cloud_failed;
  if (reason != CloudReason::price) return refusal;
  return {
      RefusalKind::not_now, RefusalCode::cloud_price, {}, row.price.usd_h(), row.max_price.usd_h()};
}

}  // namespace

Master::Master(const MasterSettings& settings, MasterDependencies parts)
    : catalog_(parts.catalog),
      settings_(settings),
      name_(parts.name),
      keep_history_(parts.keep_history),
      fleet_(parts.fleet),
      memory_(settings, parts),
      cadence_(parts.policy->cadence()),
      first_instance_(parts.first_instance) {
  planner_ = std::make_unique<Planner>(settings, std::move(parts), memory_);
}

std::unique_ptr<Planner> Master::send_planner_off() {
  planner_->part_ways();
  return std::move(planner_);
}

void Master::record(EventBody body, Instant now) {
  if (known_.calm) end_calm(now, 0);
  commit_.events.push_back({now, std::move(body)});
  absorb(commit_.events.back());
  if (planner_) planner_->show(commit_.events.back());
}

SubmitResult Master::submit(Job job, Instant now) {
  if (job.tasks.empty()) return SubmitResult::invalid;
  if (was_accepted(job.id)) return SubmitResult::known_already;
  for (const TaskSpec& task : job.tasks) {
    if (state_.find(task.id) != nullptr) return SubmitResult::invalid;
  }
  record(JobAccepted{std::move(job)}, now);
  return SubmitResult::accepted;
}

HoldResult Master::hold(JobId id, bool held, Instant now) {
  const JobRow* job = state_.find(id);
  if (job == nullptr) return HoldResult::unknown;
  if (job->terminal_outcome) return HoldResult::stopping;
  if (job->held_by_user == held) return HoldResult::done;
  if (!held) {
    record(JobReleased{id}, now);
    return HoldResult::done;
  }
  std::vector<InstanceId> lost;  // instances that assigned tasks were meant for
  for (Slot slot : job->tasks) {
    const TaskRow& task = state_.task(slot);
    if (task.phase == TaskPhase::assigned) lost.push_back(state_.instance(task.target).id);
  }
  record(JobHeld{id}, now);
  for (InstanceId instance : lost) release_if_unused(instance, now);
  end_empty_instances(now);
  return HoldResult::done;
}

void Master::instance_up(InstanceId id, std::optional<Instant> billed_from, Instant now) {
  const InstanceRow* row = state_.find(id);
  if (row == nullptr || row->up) return;
  record(InstanceUp{id, billed_from, cloud_ahead_}, now);
  reconcile_at(id, now);
}

void Master::instance_ready(InstanceId id, Instant now) {
  const InstanceRow* row = state_.find(id);
  if (row == nullptr || row->phase != InstancePhase::booting) return;
  record(InstanceReady{id}, now);
  reconcile_at(id, now);
}

void Master::instance_refused(InstanceId id, Instant now, CloudReason reason) {
  const InstanceRow* row = state_.find(id);
  if (row == nullptr || row->up) return;
  // It was given back before the cloud had answered: it never was.
  if (row->phase == InstancePhase::terminating) return instance_gone(id, {}, now, {{}, reason});
  if (row->phase != InstancePhase::requested) return;
  const std::vector<Slot> meant_for_it = row->planned;
  const Refusal refusal = refusal_of(reason, *row);
  record(LaunchRefused{id, refusal, reason}, now);
  for (Slot slot : meant_for_it) record(TaskRefused{state_.task(slot).id, refusal}, now);
  for (Slot slot : meant_for_it) unassign_gang(state_.job(state_.task(slot).job), refusal, now);
  reconcile(now);
  fleet_is_short_ = !fleet_.empty();
}

/// A gang runs whole or not at all: when one task has no place, the others give theirs back, so
/// that nothing is rented for a gang that cannot progress.
void Master::unassign_gang(const JobRow& job, const Refusal& reason, Instant now) {
  if (!job.job.gang) return;
  const std::vector<Slot> tasks = job.tasks;
  for (Slot slot : tasks) {
    const TaskRow& peer = state_.task(slot);
    if (peer.target == kNoSlot) continue;
    const InstanceId target = state_.instance(peer.target).id;
    record(TaskUnassigned{peer.id, {CauseCode::evicted, 0}}, now);
    stop_if_running(peer.id, now);
    refuse(peer.id, reason, now);
    release_if_unused(target, now);
  }
}

void Master::instance_gone(InstanceId id, std::optional<Instant> billed_until, Instant now,
                           const GoneNews& news) {
  const InstanceRow* row = state_.find(id);
  if (row == nullptr) return;
  if (!row->up && news.billed_from) record(InstanceUp{id, news.billed_from, cloud_ahead_}, now);
  const bool wanted = state_.find(id)->phase == InstancePhase::terminating;
  const bool said = news.reason != CloudReason::not_said;
  std::vector<JobId> jobs_there;
  for (Slot slot : state_.find(id)->occupants) {
    jobs_there.push_back(state_.job(state_.task(slot).job).job.id);
  }
  record(InstanceGone{id, billed_until, wanted && !said ? CloudReason::ended : news.reason}, now);
  for (JobId job : jobs_there) {
    if (state_.find(job) != nullptr) end_job_if_done(job, now);
  }
  reconcile(now);
  keep_fleet(now);
}

void Master::task_started(const TaskStarted& news, Instant now) {
  const TaskRow* row = present_attempt(state_, news.task, news.attempt);
  if (row == nullptr || row->phase != TaskPhase::starting) return;
  record(news, now);
  if (row->target == kNoSlot) stop_if_running(news.task, now);  // lost its place on the way
}

void Master::task_checkpointed(const TaskCheckpointed& news, Instant now) {
  const TaskRow* row = present_attempt(state_, news.task, news.attempt);
  if (row == nullptr) return;
  const JobId job = state_.job(row->job).job.id;
  const InstanceId left = state_.instance(row->at).id;
  if (row->phase == TaskPhase::starting) record(TaskStarted{news.task, news.attempt, {}, {}}, now);
  if (row->phase == TaskPhase::running) record(StopIssued{news.task, news.attempt}, now);
  record(news, now);
  end_job_if_done(job, now);
  reconcile_task(news.task, now);
  reconcile_at(left, now);
}

void Master::task_finished(const TaskFinished& news, Instant now) {
  const TaskRow* row = present_attempt(state_, news.task, news.attempt);
  if (row == nullptr) return;
  const JobId job = state_.job(row->job).job.id;
  const InstanceId left = state_.instance(row->at).id;
  // What was said of its start may have got lost with a master or a worker.
  if (row->phase == TaskPhase::starting) record(TaskStarted{news.task, news.attempt, {}, {}}, now);
  record(news, now);
  release_held(job, now);
  end_job_if_done(job, now);
  reconcile_at(left, now);
}

void Master::task_failed(TaskFailed news, Instant now) {
  const TaskRow* row = present_attempt(state_, news.task, news.attempt);
  if (row == nullptr) return;
  const JobRow& job = state_.job(row->job);
  const JobId id = job.job.id;
  // What fails of a job that is being ended would have been stopped.
  news.for_good = !job.terminal_outcome && is_last_attempt(job.job, news);
  record(news, now);
  if (news.for_good) {
    lose_task(id, now);
  } else if (state_.find(id)->terminal_outcome) {
    end_job_if_done(id, now);
  }
  reconcile(now);
}

bool Master::is_last_attempt(const Job& job, const TaskFailed& news) const {
  const TaskHistory* known = task_history(news.task);
  const TaskHistory before = known == nullptr ? TaskHistory{} : *known;
  if (news.kind == FailureKind::cannot_start) return true;
  if (news.kind == FailureKind::lost) return before.losses + 1 >= settings_.max_losses;
  const std::uint32_t allowed = job.retries ? *job.retries + 1 : settings_.max_attempts;
  return !news.blameless && before.failures + 1 >= allowed;
}

/// The tasks of a gang end together; those of an array go on unless too many have failed.
void Master::lose_task(JobId id, Instant now) {
  const JobRow& job = *state_.find(id);
  const bool too_many = job.job.max_fails && job.failed > *job.job.max_fails;
  if (job.job.gang || too_many) return give_up(id, JobOutcome::failed, now);
  release_held(id, now);
  end_job_if_done(id, now);
}

void Master::acknowledge(TaskId task, Attempt attempt, InstanceId on) {
  commit_.effects.emplace_back(AcknowledgeAttempt{task, attempt, on});
}

/// Puts the next of the job's capped tasks among those that wait, as many as it allows.
void Master::release_held(JobId id, Instant now) {
  const JobRow& job = *state_.find(id);
  if (job.held_by_user || job.terminal_outcome) return;
  for (std::uint32_t i = job.held_from; i < job.tasks.size(); ++i) {
    if (job.capped == 0 || job.room_in_flight() == 0) return;
    const TaskRow& task = state_.task(job.tasks[i]);
    if (task.phase == TaskPhase::capped) record(TaskReleased{task.id}, now);
  }
}

void Master::cancel(JobId id, Instant now) {
  if (state_.find(id) == nullptr || state_.find(id)->terminal_outcome) return;
  give_up(id, JobOutcome::cancelled, now);
  reconcile(now);
}

void Master::give_up(JobId id, JobOutcome outcome, Instant now) {
  record(JobTerminating{id, outcome}, now);
  const std::vector<Slot> tasks = state_.find(id)->tasks;
  for (Slot slot : tasks) {
    const TaskRow& task = state_.task(slot);
    if (task.target != kNoSlot) record(TaskUnassigned{task.id, {CauseCode::evicted, 0}}, now);
    stop_if_running(task.id, now);
  }
  end_job_if_done(id, now);
}

void Master::end_job_if_done(JobId id, Instant now) {
  const JobRow& job = *state_.find(id);
  if (job.finished == job.tasks.size()) return finish_job(id, JobOutcome::completed, now);
  if (job.all_ended()) return finish_job(id, JobOutcome::failed, now);
  if (!job.terminal_outcome || job.gang.holding > 0) return;
  finish_job(id, *job.terminal_outcome, now);
}

void Master::finish_job(JobId id, JobOutcome outcome, Instant now) {
  JobFinished over{id, outcome, 1, 0};
  if (const auto found = known_.throughput.find(id); found != known_.throughput.end()) {
    over.throughput_samples = found->second.count;
    over.mean_throughput = found->second.sum / static_cast<double>(found->second.count);
  }
  if (keep_history_) commit_.over.push_back(history_of(over, now));
  const JobRow& row = *state_.find(id);
  if (outcome == JobOutcome::completed) note_completed(row);
  const TellJobOver tell{id,
                         outcome,
                         state_.task(row.tasks.front()).id,
                         static_cast<std::uint32_t>(row.tasks.size()),
                         row.job.task_count(),
                         !row.all_ended()};
  record(over, now);
  commit_.effects.emplace_back(tell);
}

/// For the sites, which learn from it.
void Master::note_completed(const JobRow& job) {
  CompletedJob done{job.job.id, static_cast<std::uint32_t>(job.tasks.size()), {}};
  for (Slot slot : job.tasks) {
    const auto known = known_.tasks.find(state_.task(slot).id);
    if (known == known_.tasks.end() || !known->second.started_at || !known->second.ended_at) return;
    done.together += *known->second.ended_at - *known->second.started_at;
  }
  completed_.push_back(done);
  ++completed_count_;
  if (completed_.size() > kMaxTold) completed_.pop_front();
}

}  // namespace muster

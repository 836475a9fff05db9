#include "masters/master.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "schedulers/packing/types/never_fits.hpp"

namespace muster {
namespace {

/// The refusal that each reason of the cloud is.
RefusalCode code_for(CloudReason reason) {
  switch (reason) {
    case CloudReason::quota:
      return RefusalCode::cloud_quota;
    case CloudReason::price:
      return RefusalCode::cloud_price;
    case CloudReason::throttled:
      return RefusalCode::cloud_throttled;
    case CloudReason::failed:
      return RefusalCode::cloud_failed;
    // A cloud that does not give an instance and says no other reason has no room.
    case CloudReason::not_said:
    case CloudReason::capacity:
    case CloudReason::reclaimed:
    case CloudReason::ended:
      break;
  }
  return RefusalCode::cloud_capacity;
}

/// Refusal of the tasks for which the cloud did not give the instance.
Refusal refusal_of(CloudReason reason, const InstanceRow& row) {
  Refusal refusal{RefusalKind::not_now, code_for(reason), {}, 1, 0};
  if (reason == CloudReason::price) {
    refusal.asked = row.price.usd_h();
    refusal.available = row.max_price.usd_h();
  }
  return refusal;
}

}  // namespace

Master::Master(const MasterSettings& settings, MasterDependencies parts)
    : catalog_(parts.catalog),
      settings_(settings),
      name_(parts.name),
      cadence_(parts.fleet.empty() || settings.rent_beyond_fleet ? parts.policy->cadence()
                                                                 : parts.policy->fleet_cadence()),
      recorder_(settings, parts),
      cloud_(recorder_, parts.first_instance),
      guard_(recorder_, cloud_, settings.caps),
      releases_(recorder_, cloud_),
      tasks_(recorder_, releases_, settings.move_when_ready),
      reconciler_(recorder_, tasks_, releases_),
      ends_(recorder_, tasks_, settings, parts.keep_history),
      services_(recorder_, tasks_, releases_, ends_),
      rules_(recorder_, cloud_, guard_, settings),
      fleet_(recorder_, cloud_, rules_, {parts.fleet, settings.slice_parts}),
      claims_({recorder_, cloud_, releases_, tasks_}, guard_, settings),
      evictions_({recorder_, cloud_, releases_, tasks_}, {guard_, fleet_, services_}),
      application_({recorder_, cloud_, releases_, tasks_}, {ends_, rules_, services_}),
      news_(recorder_, {tasks_, ends_, reconciler_, services_}),
      planner_(std::make_unique<Planner>(settings, std::move(parts), recorder_.memory())) {
  recorder_.listen(*planner_);
}

std::unique_ptr<Planner> Master::send_planner_off() {
  recorder_.unlisten(*planner_);
  planner_->part_ways();
  return std::move(planner_);
}

std::string Master::restore(std::optional<MasterSnapshot> snapshot, std::span<const Event> tail) {
  std::string trouble;
  if (snapshot) {
    const std::string words = std::move(snapshot->policy_state);
    recorder_.restore(std::move(*snapshot));
    trouble = planner_->restore(words, tail.empty() ? facts().newest : tail[0].at);
  }
  const RoundsOfLog rounds(tail);
  for (std::size_t i = 0; i < tail.size(); ++i) {
    for (const Event& round : rounds.decided_before(i)) planner_->show(round);
    recorder_.replay(tail[i]);
  }
  // Whether all of the fleet was there is not on record: the next round looks.
  fleet_.look_again();
  services_.take_over();
  return trouble;
}

SubmitResult Master::submit(Job job, Instant now) {
  if (job.tasks.empty()) return SubmitResult::invalid;
  if (facts().accepted.contains(job.id.value)) return SubmitResult::known_already;
  for (const TaskSpec& task : job.tasks) {
    if (state().find(task.id) != nullptr) return SubmitResult::invalid;
  }
  const JobId id = job.id;
  std::optional<Refusal> never;
  if (!services_.admit(job)) never = Refusal{RefusalKind::never, RefusalCode::name_taken, {}, 0, 0};
  // Drained instances come back with the next start, so that the whole fleet counts.
  if (memory().fixed_fleet() && !never)
    never = why_task_never_fits(job, *catalog_, fleet_.configured());
  if (memory().fixed_fleet() && !never) {
    never = why_gang_never_fits(job, *catalog_, fleet_.configured());
  }
  recorder_.record(JobAccepted{std::move(job)}, now);
  if (never) refuse_for_good(id, *never, now);
  services_.advance(now);
  return SubmitResult::accepted;
}

/// Its part of the job is on record, and over: a question gets the reason.
void Master::refuse_for_good(JobId id, const Refusal& never, Instant now) {
  const std::vector<Slot> tasks = state().find(id)->tasks;
  for (Slot slot : tasks) tasks_.refuse(state().task(slot).id, never, now);
  ends_.give_up(id, JobOutcome::refused, now);
}

void Master::cancel(JobId id, Instant now, JobOutcome as) {
  const JobRow* job = state().find(id);
  if (job == nullptr || job->terminal_outcome) return;
  ends_.give_up(id, as, now);
  services_.advance(now);
  reconciler_.reconcile(now);
}

HoldResult Master::hold(JobId id, bool held, Instant now) {
  const JobRow* job = state().find(id);
  if (job == nullptr) return HoldResult::unknown;
  if (job->terminal_outcome) return HoldResult::stopping;
  if (job->held_by_user == held) return HoldResult::done;
  if (!held) {
    recorder_.record(JobReleased{id}, now);
    return HoldResult::done;
  }
  std::vector<InstanceId> lost;  // instances that assigned tasks were meant for
  for (Slot slot : job->tasks) {
    const TaskRow& task = state().task(slot);
    if (task.phase == TaskPhase::assigned) lost.push_back(state().instance(task.target).id);
  }
  recorder_.record(JobHeld{id}, now);
  for (InstanceId instance : lost) releases_.release_if_unused(instance, now);
  releases_.end_empty(now);
  return HoldResult::done;
}

void Master::instance_up(InstanceId id, std::optional<Instant> billed_from, Instant now) {
  const InstanceRow* row = state().find(id);
  if (row == nullptr || row->up) return;
  recorder_.record(InstanceUp{id, billed_from, guard_.cloud_ahead()}, now);
  reconciler_.reconcile_at(id, now);
}

void Master::instance_ready(InstanceId id, Instant now) {
  const InstanceRow* row = state().find(id);
  if (row == nullptr || row->phase != InstancePhase::booting) return;
  recorder_.record(InstanceReady{id}, now);
  reconciler_.reconcile_at(id, now);
}

void Master::instance_refused(InstanceId id, Instant now, CloudReason reason) {
  const InstanceRow* row = state().find(id);
  if (row == nullptr || row->up) return;
  // It was given back before the cloud had answered: it never was.
  if (row->phase == InstancePhase::terminating) return instance_gone(id, {}, now, {{}, reason});
  if (row->phase != InstancePhase::requested) return;
  const std::vector<Slot> meant_for_it = row->planned;
  const Refusal refusal = refusal_of(reason, *row);
  recorder_.record(LaunchRefused{id, refusal, reason}, now);
  for (Slot slot : meant_for_it) recorder_.record(TaskRefused{state().task(slot).id, refusal}, now);
  std::unordered_set<Slot> gangs;  // each gives all of its places back at once
  for (Slot slot : meant_for_it) {
    const Slot job = state().task(slot).job;
    if (gangs.insert(job).second) tasks_.unassign_gang(state().job(job), refusal, now);
    tasks_.stay_or_leave(state().task(slot).id, now);
  }
  reconciler_.reconcile(now);
  fleet_.look_again();
}

void Master::instance_gone(InstanceId id, std::optional<Instant> billed_until, Instant now,
                           const GoneNews& news) {
  const InstanceRow* row = state().find(id);
  if (row == nullptr) return;
  if (!row->up && news.billed_from) {
    recorder_.record(InstanceUp{id, news.billed_from, guard_.cloud_ahead()}, now);
  }
  const bool wanted = state().find(id)->phase == InstancePhase::terminating;
  const bool said = news.reason != CloudReason::not_said;
  std::vector<JobId> jobs_there;
  std::vector<TaskId> tasks_there;
  for (Slot slot : state().find(id)->occupants) {
    jobs_there.push_back(state().job(state().task(slot).job).job.id);
    tasks_there.push_back(state().task(slot).id);
  }
  std::vector<TaskId> meant_for_it;
  for (Slot slot : state().find(id)->planned) meant_for_it.push_back(state().task(slot).id);
  recorder_.record(
      InstanceGone{id, billed_until, wanted && !said ? CloudReason::ended : news.reason}, now);
  for (TaskId task : meant_for_it) tasks_.stay_or_leave(task, now);
  for (JobId job : jobs_there) {
    if (state().find(job) != nullptr) ends_.end_if_done(job, now);
  }
  ends_.end_if_stuck(tasks_there, now);
  services_.advance(now);
  reconciler_.reconcile(now);
  fleet_.keep(now);
}

}  // namespace muster

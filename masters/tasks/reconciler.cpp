#include "masters/tasks/reconciler.hpp"

#include <algorithm>

#include "model/feasible.hpp"
#include "model/stay.hpp"

// Brings what runs to what is meant to run: starts every task that stands on a ready instance with
// room for it. Only those are looked at that an event may have let start (StartCandidates), in the
// order in which they became candidates; a gang starts with its last task or not at all.

namespace muster {
namespace {

/// A task of the gang has no place, so that the others cannot start either.
bool gang_incomplete(const JobRow& job) {
  return job.job.gang && job.pending > 0;
}

Refusal awaiting(RefusalCode code) {
  return {RefusalKind::not_now, code, {}, 0, 0};
}

}  // namespace

Reconciler::Reconciler(MasterRecorder& recorder, TaskOrders& tasks, InstanceReleases& releases)
    : recorder_(recorder), tasks_(tasks), releases_(releases) {
  recorder_.listen(*this);
}

void Reconciler::before(const Event& event, const MasterFacts& facts) {
  candidates_.before(event, facts.state);
}
void Reconciler::after(const Event& /*event*/, const MasterFacts& facts) {
  candidates_.after(facts.state);
}
void Reconciler::restored(const MasterFacts& facts) {
  candidates_.mark_all(facts.state);
}

void Reconciler::reconcile(Instant now) {
  candidates_.begin_pass(state());
  while (const auto slot = candidates_.next(state())) try_start(*slot, now);
  releases_.end_empty(now);
}

void Reconciler::reconcile_at(InstanceId id, Instant now) {
  std::vector<Slot> concerned;
  if (const InstanceRow* row = state().find(id)) {
    concerned = row->planned;
    // Behind all others: a master that was started again has gangs to try that it need not, which
    // must not change the order in which the tasks here start.
    std::vector<Slot> gangs, gang_tasks;
    for (Slot slot : row->planned) {
      const Slot job = state().task(slot).job;
      if (std::find(gangs.begin(), gangs.end(), job) != gangs.end()) continue;
      gangs.push_back(job);
      candidates_.gang_tasks_to_try(state(), job, gang_tasks);
    }
    // Those that are meant for this instance have been tried by then, and would be told of the room
    // that others took meanwhile: earlier than by a master that was not started again.
    for (Slot slot : gang_tasks) {
      if (state().task(slot).target != row->slot) concerned.push_back(slot);
    }
  }
  for (Slot slot : concerned) try_start(slot, now);
  releases_.end_empty(now);
}

void Reconciler::reconcile_room(InstanceId id, Instant now) {
  const InstanceRow* row = state().find(id);
  if (row != nullptr && candidates_.may_start_some(state(), row->slot)) {
    return reconcile_at(id, now);
  }
  releases_.end_empty(now);
}

void Reconciler::reconcile_task(TaskId id, Instant now) {
  const TaskRow* row = state().find(id);
  if (row == nullptr) return;
  std::vector<Slot> concerned;
  candidates_.gang_tasks_to_try(state(), row->job, concerned);
  concerned.push_back(row->slot);
  for (Slot slot : concerned) try_start(slot, now);
}

void Reconciler::try_start(Slot slot, Instant now) {
  const TaskRow& task = state().task(slot);
  if (task.phase == TaskPhase::running) return tasks_.move_on(task, now);
  if (task.phase != TaskPhase::assigned) return;
  const JobRow& job = state().job(task.job);
  if (gang_incomplete(job)) {
    return tasks_.unassign_gang(job, awaiting(RefusalCode::awaiting_peers), now);
  }
  // It had its place before its last attempt was lost.
  if (!wants(state().markets(task), state().instance(task.target).market)) {
    return leave_market(task, now);
  }
  if (const auto reason = start_blocker(task)) return tasks_.refuse(task.id, *reason, now);
  tasks_.start(task, now);
}

/// A task that is confined to what is on demand waits for a place there; its gang with it.
void Reconciler::leave_market(const TaskRow& task, Instant now) {
  const TaskId id = task.id;
  const JobRow& job = state().job(task.job);
  const InstanceId target = state().instance(task.target).id;
  const Refusal reason = why_confined(state(), task);
  if (job.job.gang) return tasks_.unassign_gang(job, reason, now);
  tasks_.unassign(id, {CauseCode::evicted, 0}, now);
  tasks_.refuse(id, reason, now);
  releases_.release_if_unused(target, now);
}

/// The obstacle of a gang's start: a task that has still to stop, or an instance that the cloud may
/// still refuse. Once every instance is up, each task starts as soon as its own is ready.
std::optional<Refusal> Reconciler::gang_start_blocker(const JobRow& job) const {
  if (!job.job.gang || job.gang.blockers == 0) return std::nullopt;
  const TaskRow& first = state().task(job.tasks[job.gang.first_blocker]);
  const bool stops = first.phase == TaskPhase::stopping;
  return awaiting(stops ? RefusalCode::awaiting_peers : RefusalCode::awaiting_instance);
}

std::optional<Refusal> Reconciler::start_blocker(const TaskRow& task) const {
  if (const auto reason = gang_start_blocker(state().job(task.job))) return reason;
  const InstanceRow& place = state().instance(task.target);
  if (place.phase != InstancePhase::ready) return awaiting(RefusalCode::awaiting_instance);
  const Resources& asked = task.planned.amount;
  const Resources& capacity = state().catalog()[place.type].capacity;
  if (const auto binding = (place.used + asked).first_exceeding(capacity)) {
    return Refusal{RefusalKind::not_now, RefusalCode::awaiting_capacity, binding, asked[*binding],
                   capacity[*binding] - place.used[*binding]};
  }
  return std::nullopt;
}

}  // namespace muster

#include "masters/tasks/task_orders.hpp"

#include <vector>

// Orders to tasks. An event goes on record first and the order to a worker follows from it, so that
// an order that gets lost with a crash can be repeated from the state.

namespace muster {

TaskOrders::TaskOrders(MasterRecorder& recorder, InstanceReleases& releases, bool move_when_ready)
    : recorder_(recorder), releases_(releases), move_when_ready_(move_when_ready) {}

void TaskOrders::assign(const TaskAssigned& place, Instant now) {
  recorder_.record(place, now);
  if (!runs_on(*state().find(place.task))) stop_if_running(place.task, now);
}

/// Only whether the new instance is ready counts, and not whether it has room: two tasks that
/// change places would otherwise wait for each other. The tasks of a gang start again together.
bool TaskOrders::runs_on(const TaskRow& task) const {
  if (!move_when_ready_ || task.phase != TaskPhase::running) return false;
  const JobRow& job = state().job(task.job);
  if ((job.job.gang && job.tasks.size() > 1) || job.width > 0) return false;
  // A task that is placed where it is was to move, and is not any more.
  return task.target == task.at || state().instance(task.target).phase != InstancePhase::ready;
}

void TaskOrders::move_on(const TaskRow& task, Instant now) {
  const bool moves = task.phase == TaskPhase::running && task.target != kNoSlot &&
                     task.target != task.at &&
                     state().instance(task.target).phase == InstancePhase::ready;
  if (moves) stop_if_running(task.id, now);
}

void TaskOrders::stay_or_leave(TaskId id, Instant now) {
  const TaskRow* task = state().find(id);
  const bool runs_without_place =
      task != nullptr && task->phase == TaskPhase::running && task->target == kNoSlot;
  if (!runs_without_place) return;
  // The place that the task was to leave may have been promised to others meanwhile.
  const InstanceRow& here = state().instance(task->at);
  const Resources& capacity = state().catalog()[here.type].capacity;
  if (here.released || !(here.committed + task->held.amount).fits_in(capacity)) {
    return stop_if_running(id, now);
  }
  recorder_.record(TaskAssigned{id, here.id, {CauseCode::evicted, 0}, task->held}, now);
}

void TaskOrders::unassign(TaskId id, const Cause& why, Instant now) {
  recorder_.record(TaskUnassigned{id, why}, now);
  stop_if_running(id, now);
}

void TaskOrders::unassign_gang(const JobRow& job, const Refusal& reason, Instant now) {
  if (!job.job.gang) return;
  const std::vector<Slot> tasks = job.tasks;
  for (Slot slot : tasks) {
    const TaskRow& peer = state().task(slot);
    if (peer.target == kNoSlot) continue;
    const InstanceId target = state().instance(peer.target).id;
    unassign(peer.id, {CauseCode::evicted, 0}, now);
    refuse(peer.id, reason, now);
    releases_.release_if_unused(target, now);
  }
}

void TaskOrders::restart_peers(const JobRow& job, Instant now) {
  if (!job.job.gang || job.tasks.size() == 1) return;
  const std::vector<Slot> tasks = job.tasks;
  for (Slot slot : tasks) {
    const TaskRow& peer = state().task(slot);
    if (peer.phase != TaskPhase::running || peer.target == kNoSlot) continue;
    const InstanceId stays_on = state().instance(peer.target).id;
    assign({peer.id, stays_on, {CauseCode::gang_restart, 0}, peer.planned}, now);
  }
}

void TaskOrders::start(const TaskRow& task, Instant now) {
  const StartIssued started{task.id, state().instance(task.target).id, task.attempt + 1,
                            task.planned};
  recorder_.record(started, now);
  recorder_.effect(StartTask{started.task, started.attempt, started.instance});
}

void TaskOrders::stop_if_running(TaskId id, Instant now) {
  const TaskRow& task = *state().find(id);
  if (task.phase != TaskPhase::running) return;
  const InstanceId on = state().instance(task.at).id;
  recorder_.record(StopIssued{id, task.attempt}, now);
  recorder_.effect(StopTask{id, task.attempt, on});
}

void TaskOrders::repeat_start(const TaskRow& task, InstanceId on) {
  recorder_.effect(StartTask{task.id, task.attempt, on});
}

void TaskOrders::repeat_stop(TaskId id, Attempt attempt, InstanceId on) {
  recorder_.effect(StopTask{id, attempt, on});
}

bool TaskOrders::knows(TaskId id, const Refusal& refusal) const {
  const TaskRow* task = state().find(id);
  return task != nullptr && task->phase == TaskPhase::pending && task->reason == refusal &&
         !state().job(task->job).job.gang;
}

void TaskOrders::refuse(TaskId id, const Refusal& refusal, Instant now) {
  const TaskRow* task = state().find(id);
  const bool waits =
      task != nullptr && (task->phase == TaskPhase::pending || task->phase == TaskPhase::assigned);
  if (!waits) return;
  const Refusal reason = reason_for(*task, refusal);
  if (task->reason != reason) recorder_.record(TaskRefused{id, reason}, now);
}

Refusal TaskOrders::reason_for(const TaskRow& task, const Refusal& refusal) const {
  const JobRow& job = state().job(task.job);
  const bool for_room =
      refusal.code == RefusalCode::fixed_fleet || refusal.code == RefusalCode::awaiting_capacity ||
      refusal.code == RefusalCode::over_capacity || refusal.code == RefusalCode::awaiting_peers;
  const bool may_pass = for_room && refusal.kind == RefusalKind::not_now;
  if (!recorder_.fixed_fleet() || !job.job.gang || !may_pass) return refusal;
  return recorder_.facts().gangs.over_fleet(job, state()).value_or(refusal);
}

}  // namespace muster

#include "model/cluster_state.hpp"

#include <algorithm>
#include <utility>

#include "model/cluster_applier.hpp"
#include "model/setbacks.hpp"

namespace muster {
namespace {

/// The rows of the tasks of which something was said; tasks that are not there are passed over.
template <class Said, class Take>
void each_row(const std::vector<Said>& said, const std::unordered_map<TaskId, Slot>& slots,
              std::vector<TaskRow>& rows, Take take) {
  for (const Said& each : said) {
    const auto slot = slots.find(each.task);
    if (slot != slots.end()) take(rows[slot->second], each);
  }
}

/// The attempt of the replica is over, and not by its own end: when it has stood it has made up for
/// those before.
void forget_setbacks(TaskRow& row, Instant at) {
  if (setbacks_with(row, at) <= 1) row.setbacks = 0;
}

/// The attempt of the replica has failed.
void note_failure(TaskRow& row, const ServiceSpec& service, const TaskFailed& failed, Instant at) {
  if (is_setback(row, service, failed, at)) {
    row.setbacks = setbacks_with(row, at);
  } else {
    forget_setbacks(row, at);
  }
  row.rests_until = failed.retry_at.value_or(Instant{});
}

/// Whether an attempt that was stopped has left a checkpoint where the next one finds it: on a
/// machine that does not share the cluster's folder, only an attempt in this very place does.
bool is_saved(const TaskRow& row, const Job& job, const InstanceRow& at, std::int32_t exit_code) {
  const bool found = !at.own_checkpoints || row.target == row.at;
  return found && (job.checkpoints || exit_code == kCheckpointedExit);
}

}  // namespace

void ClusterState::Applier::operator()(const JobAccepted& e) {
  MUSTER_CHECK(!s.job_slots_.contains(e.job.id), "job ids are used once");
  MUSTER_CHECK(!e.job.tasks.empty(), "a job has at least one task");
  const Slot slot = new_row(s.jobs_, s.free_jobs_);
  s.job_slots_.emplace(e.job.id, slot);
  JobRow& row = s.jobs_[slot];
  row = {};
  row.job = e.job;
  row.slot = slot;
  row.accepted_at = at;
  if (const auto* elastic = std::get_if<ElasticSpec>(&e.job.kind)) {
    MUSTER_CHECK(elastic->min_width > 0 && elastic->max_width == e.job.tasks.size(),
                 "an elastic job has a task for each of its workers");
    row.width = elastic->min_width;
    ++s.work_.elastic_jobs;
    s.work_.widths += row.width;
  }
  if (const ServiceSpec* service = row.job.service()) OfServices{*this, s}.begin(row, *service);
  s.active_.append(s.jobs_, slot);
  ++count(row.counted);
  const bool awaits = waits_by_index(row.job);
  for (std::uint32_t i = 0; i < row.job.tasks.size(); ++i) add_task(row, i, awaits);
}

void ClusterState::Applier::operator()(const TaskRefused& e) {
  TaskRow& row = task(e.task);
  row.reason = e.refusal;
  recount(row);
}

void ClusterState::Applier::operator()(const RoundDecided&) {}

void ClusterState::Applier::operator()(const PlanPartRefused&) {}

void ClusterState::Applier::operator()(const Measured& e) {
  each_row(e.progress, s.task_slots_, s.tasks_,
           [&](TaskRow& row, const JobProgress& said) { job_of(row).done = said.done; });
  each_row(e.metrics, s.task_slots_, s.tasks_,
           [](TaskRow& row, const TaskMetrics& said) { row.metrics = said.values; });
}

void ClusterState::Applier::operator()(const LaunchRequested& e) {
  MUSTER_CHECK(!s.instance_slots_.contains(e.instance), "instance ids are used once");
  const Slot slot = new_row(s.instances_, s.free_instances_);
  s.instance_slots_.emplace(e.instance, slot);
  InstanceRow& row = s.instances_[slot] = {};
  row.id = e.instance;
  row.slot = slot;
  row.type = e.type;
  row.market = e.market;
  row.price = e.price;
  row.zone = e.zone;
  row.max_price = e.max_price;
  row.owned = e.cause.code == CauseCode::fleet;
  row.requested_at = at;
  s.live_.append(s.instances_, slot);
  s.list_instance(slot);
  s.count_instance(row);
}

void ClusterState::Applier::operator()(const LaunchRefused& e) {
  InstanceRow& row = instance(e.instance);
  MUSTER_CHECK(row.phase == InstancePhase::requested, "only a request can be refused");
  // A copy: losing their place takes them off the list.
  const std::vector<Slot> planned = row.planned;
  for (Slot slot : planned) lose_place(s.tasks_[slot], e.refusal);
  remove_instance(row);
}

void ClusterState::Applier::operator()(const InstanceUp& e) {
  InstanceRow& row = instance(e.instance);
  MUSTER_CHECK(!row.up, "an instance comes up once");
  row.up = true;
  row.up_at = e.billed_from.value_or(at);
  s.sums_.up_nano_usd_h += row.price.nano_usd_h();
  if (row.phase == InstancePhase::requested) row.phase = InstancePhase::booting;
  for (Slot slot : row.planned) recount(s.tasks_[slot]);
}

void ClusterState::Applier::operator()(const InstanceReady& e) {
  InstanceRow& row = instance(e.instance);
  MUSTER_CHECK(row.phase == InstancePhase::booting, "an instance gets ready once, when it is up");
  row.phase = InstancePhase::ready;
}

void ClusterState::Applier::operator()(const ReleaseDecided& e) {
  InstanceRow& row = instance(e.instance);
  MUSTER_CHECK(row.planned.empty(), "an instance that tasks are meant for is not released");
  // A second release must not take the capacity out of the sum again.
  if (!row.released) s.sums_.open_capacity -= (*s.catalog_)[row.type].capacity;
  row.released = true;
}

void ClusterState::Applier::operator()(const TerminateIssued& e) {
  InstanceRow& row = instance(e.instance);
  MUSTER_CHECK(row.released, "only a released instance is ended");
  row.phase = InstancePhase::terminating;
}

void ClusterState::Applier::lose_place(TaskRow& row, const Refusal& reason) {
  if (row.phase == TaskPhase::assigned) {
    wait_again(row, reason);
  } else {
    drop_target(row);
  }
}

void ClusterState::Applier::operator()(const InstanceGone& e) {
  InstanceRow& row = instance(e.instance);
  // Copied: vacate() takes the occupants off the row's list.
  const Refusal lost{RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0};
  const std::vector<Slot> occupants = row.occupants;
  for (Slot slot : occupants) {
    TaskRow& lost_task = s.tasks_[slot];
    forget_setbacks(lost_task, at);
    vacate(lost_task);
    OfServices{*this, s}.has_stood(lost_task) ? note_progress(lost_task)
                                              : note_fruitless(lost_task);
    if (lost_task.target == row.slot || lost_task.target == kNoSlot) {
      wait_again(lost_task, lost);
    } else {
      enter_phase(lost_task, TaskPhase::assigned);
    }
  }
  const std::vector<Slot> planned = row.planned;
  for (Slot slot : planned) lose_place(s.tasks_[slot], lost);
  remove_instance(row);
}

void ClusterState::Applier::operator()(const TaskAssigned& e) {
  TaskRow& row = task(e.task);
  InstanceRow& to = instance(e.to);
  MUSTER_CHECK(!to.released, "nothing is placed on a released instance");
  MUSTER_CHECK(row.phase != TaskPhase::finished && row.phase != TaskPhase::failed,
               "a task that has ended needs no place");
  set_target(row, to.slot, granted(s, e.grant, row, to));
  if (row.phase == TaskPhase::pending) enter_phase(row, TaskPhase::assigned);
  row.reason = {RefusalKind::not_now, RefusalCode::awaiting_instance, {}, 0, 0};
  recount(row);
}

void ClusterState::Applier::operator()(const TaskUnassigned& e) {
  lose_place(task(e.task), {RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0});
}

void ClusterState::Applier::operator()(const StartIssued& e) {
  TaskRow& row = task(e.task);
  const InstanceRow& place = instance(e.instance);
  MUSTER_CHECK(row.phase == TaskPhase::assigned, "only a task that has a place can start");
  MUSTER_CHECK(row.target == place.slot, "a task starts where it is meant to be");
  MUSTER_CHECK(e.attempt == row.attempt + 1, "each start raises the attempt by one");
  const Grant grant = granted(s, e.grant, row, place);
  MUSTER_CHECK((place.used + grant.amount).fits_in((*s.catalog_)[place.type].capacity),
               "an instance is never filled over its capacity");
  begin_attempt(*this, row, e.attempt);
  enter_phase(row, TaskPhase::starting);
  occupy(row, place.slot, grant);
}

void ClusterState::Applier::operator()(const TaskStarted& e) {
  TaskRow& row = task(e.task);
  MUSTER_CHECK(row.phase == TaskPhase::starting && row.attempt == e.attempt,
               "only the present attempt can start");
  begin_run(*this, row, e);
  enter_phase(row, TaskPhase::running);
}

void ClusterState::Applier::operator()(const StopIssued& e) {
  TaskRow& row = task(e.task);
  MUSTER_CHECK(row.phase == TaskPhase::running && row.attempt == e.attempt,
               "only a running attempt is stopped");
  enter_phase(row, TaskPhase::stopping);
}

void ClusterState::Applier::operator()(const TaskCheckpointed& e) {
  TaskRow& row = task(e.task);
  MUSTER_CHECK(row.phase == TaskPhase::stopping && row.attempt == e.attempt,
               "only a stopped attempt leaves");
  row.seen_upload = e.upload;
  const bool saved = is_saved(row, job_of(row).job, s.instances_[row.at], e.end.exit_code);
  const Duration ran = at - e.upload - started(row);  // its checkpoint was saved after that
  if (saved) row.ran += std::max(Duration{}, ran);
  // A process that was killed, or ended otherwise, has not reported a saved checkpoint.
  const bool has_saved = saved && (e.end.exit_code == 0 || e.end.exit_code == kCheckpointedExit);
  // A replica that leaves has nothing to save, and others have its work.
  const bool is_replica = job_of(row).job.service() != nullptr;
  const bool gained = is_replica || (has_saved && ran > s.spec(row).delays.init);
  gained ? note_progress(row) : note_fruitless(row);
  forget_setbacks(row, at);
  vacate(row);
  enter_phase(row, row.target == kNoSlot ? TaskPhase::pending : TaskPhase::assigned);
  if (row.phase == TaskPhase::capped) row.reason = reason_of_capped(row, job_of(row));
}

void ClusterState::Applier::operator()(const TaskFinished& e) {
  TaskRow& row = task(e.task);
  MUSTER_CHECK(row.phase == TaskPhase::running || row.phase == TaskPhase::stopping,
               "only a task that runs can finish");
  MUSTER_CHECK(row.attempt == e.attempt, "only the present attempt can finish");
  row.ran += at - started(row);
  note_progress(row);
  vacate(row);
  drop_target(row);
  enter_phase(row, TaskPhase::finished);
}

void ClusterState::Applier::operator()(const TaskFailed& e) {
  TaskRow& row = task(e.task);
  MUSTER_CHECK(row.at != kNoSlot && row.attempt == e.attempt, "only the present attempt can fail");
  if (const ServiceSpec* service = job_of(row).job.service()) note_failure(row, *service, e, at);
  vacate(row);
  const Refusal failed{RefusalKind::broken, RefusalCode::task_failed, {}, 0, 0};
  const Refusal again{RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0};
  if (!e.for_good) return wait_again(row, e.blameless ? again : failed);
  drop_target(row);
  note_progress(row);
  row.reason = failed;
  enter_phase(row, TaskPhase::failed);
}

void ClusterState::Applier::operator()(const GangTurn&) {}

void ClusterState::Applier::operator()(const RoomClaimed&) {}

void ClusterState::Applier::operator()(const OfferingChanged& e) {
  s.change_offering(e.change);
}

void ClusterState::Applier::operator()(const JobTerminating& e) {
  JobRow& job = s.jobs_[slot_of(s.job_slots_, e.job)];
  job.terminal_outcome = e.outcome;
  restate(job);
  if (e.outcome == JobOutcome::failed) OfServices{*this, s}.tell_given_up(job);
}

void ClusterState::Applier::operator()(const JobFinished& e) {
  JobRow& row = s.jobs_[slot_of(s.job_slots_, e.job)];
  for (Slot slot : row.tasks) {
    TaskRow& done = s.tasks_[slot];
    MUSTER_CHECK(done.at == kNoSlot, "a job is over when none of its tasks holds resources");
    drop_target(done);
    leave_phase(done);
    s.shapes_.leave(done.shape);
    s.classes_.leave(done.cls);
    s.task_slots_.erase(done.id);
    s.free_tasks_.push_back(slot);
  }
  --count(row.counted);
  s.work_.elastic_jobs -= row.width > 0;
  s.work_.widths -= row.width;
  s.active_.remove(s.jobs_, row.slot);
  s.free_jobs_.push_back(row.slot);
  s.job_slots_.erase(e.job);
  row = {};
}

void ClusterState::derive() {
  Applier applier{*this, {}};
  for (const TaskRow& row : pending()) {
    waiting_demand_ += nominal_demand(row.shape);
    tasks_[row.slot].queued = ++next_queued_;
  }
  for (const TaskRow& row : assigned()) tasks_[row.slot].queued = ++next_queued_;
  for (const JobRow& row : jobs()) {
    JobRow& job = jobs_[row.slot];
    ++applier.count(job.counted);
    work_.elastic_jobs += job.width > 0;
    work_.widths += job.width;
    for (Slot slot : job.tasks) {
      const TaskRow& task = tasks_[slot];
      shapes_.join(task.shape);
      classes_.join(task.cls);
      ++applier.count(task.phase);
      job.held += task.phase == TaskPhase::held;
      job.capped += task.phase == TaskPhase::capped;
      work_.beyond_width += is_spare(task, job);
      job.starting += task.phase == TaskPhase::starting;
      job.stopping += task.phase == TaskPhase::stopping;
      job.failed += task.phase == TaskPhase::failed;
      job.wanted += task.wanted;
      job.awaiting += task.awaits;
      job.started = job.started || task.started_at > Instant{};
      job.leaving += task.at != kNoSlot && is_unwanted(task, job);
      job.gang.holding += task.at != kNoSlot;
      applier.recount(tasks_[slot]);
    }
    applier.restate(job);
  }
  derive_shapes();
  classes_.settle();
  for (const InstanceRow& row : instances()) {
    list_instance(row.slot);
    count_instance(row);
    for (Slot slot : row.planned) sums_.committed += tasks_[slot].planned.amount;
    for (Slot slot : row.occupants) sums_.used += tasks_[slot].held.amount;
  }
}

void ClusterState::derive_shapes() {
  shapes_.settle(*catalog_);
  for (const JobRow& row : jobs()) {
    const Job& job = row.job;
    ShapeId stored{}, present{};
    for (std::size_t i = 0; i < row.tasks.size(); ++i) {
      TaskRow& task = tasks_[row.tasks[i]];
      // Tasks of an array share their demands.
      const bool as_before = i > 0 && task.shape == stored &&
                             job.tasks[i].demands.shares_with(job.tasks[i - 1].demands);
      stored = task.shape;
      if (!as_before) {
        present = shapes_.present(*catalog_, stored, job.tasks[i].demands, job.constraint);
      } else if (present != stored) {
        shapes_.join(present);
        shapes_.leave(stored);
      }
      task.shape = present;
    }
  }
}

void ClusterState::apply(const Event& event) {
  std::visit(Applier{*this, event.at}, event.body);
}

}  // namespace muster

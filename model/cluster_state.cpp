#include "model/cluster_state.hpp"

#include <algorithm>
#include <utility>

#include "model/check.hpp"
#include "model/gang_counts.hpp"
#include "model/row_tables.hpp"

namespace muster {
/// The transition function: one operator() a kind of event.
struct ClusterState::Applier {
  ClusterState& s;
  Instant at;

  TaskRow& task(TaskId id) { return s.tasks_[slot_of(s.task_slots_, id)]; }
  InstanceRow& instance(InstanceId id) { return s.instances_[slot_of(s.instance_slots_, id)]; }
  JobRow& job_of(const TaskRow& task) { return s.jobs_[task.job]; }
  /// Rows that an earlier version kept do not know when their attempts started.
  Instant started(const TaskRow& row) { return std::max(row.started_at, job_of(row).accepted_at); }

  /// What an event grants; those of earlier versions meant what the task demands.
  Grant granted(const std::optional<Grant>& grant, const TaskRow& task,
                const InstanceRow& on) const {
    const FamilyDemand* demand = s.demand(task, on.type);
    MUSTER_CHECK(demand != nullptr, "a task is only ever on a family that it has a demand for");
    return grant ? *grant : Grant::of(demand->amount);
  }

  bool blocks(const TaskRow& row) const {
    if (row.phase == TaskPhase::stopping) return true;
    return row.phase == TaskPhase::assigned && row.target != kNoSlot &&
           !s.instances_[row.target].up;
  }

  std::size_t& count(TaskPhase phase) { return s.work_.tasks[static_cast<std::size_t>(phase)]; }
  std::size_t& count(JobStanding standing) {
    return s.work_.jobs[static_cast<std::size_t>(standing)];
  }
  /// Counts the job as what it is.
  void restate(JobRow& job) {
    const JobStanding standing = job.standing();
    if (standing == job.counted) return;
    --count(job.counted);
    ++count(standing);
    job.counted = standing;
  }

  /// Brings the job's counts up to date with a row that has changed.
  void recount(TaskRow& row) {
    GangCounts& gang = job_of(row).gang;
    const ToldReason told = told_of(row);
    tell(gang, std::exchange(row.told, told), told);
    if (const bool now = blocks(row); now != row.blocks_gang) {
      row.blocks_gang = now;
      now ? add_blocker(gang, row.index) : remove_blocker(job_of(row), row.index);
    }
    restate(job_of(row));
  }
  void remove_blocker(JobRow& job, std::uint32_t index) const {
    GangCounts& gang = job.gang;
    if (--gang.blockers == 0) {
      gang.first_blocker = 0;
    } else if (index == gang.first_blocker) {
      while (!s.tasks_[job.tasks[gang.first_blocker]].blocks_gang) ++gang.first_blocker;
    }
  }

  void set_target(TaskRow& row, Slot target, const Grant& grant) {
    if (row.target != kNoSlot) {
      InstanceRow& old = s.instances_[row.target];
      erase_value(old.planned, row.slot);
      old.committed -= row.planned.amount;
      s.sums_.committed -= row.planned.amount;
      if (old.planned.empty()) old.committed = {};  // no rounding error outlives the last task
    }
    row.target = target;
    row.planned = grant;
    if (target != kNoSlot) {
      InstanceRow& fresh = s.instances_[target];
      fresh.planned.push_back(row.slot);
      fresh.committed += grant.amount;
      s.sums_.committed += grant.amount;
    }
    recount(row);
  }
  void drop_target(TaskRow& row) { set_target(row, kNoSlot, {}); }

  /// From the start of an attempt until vacate() the grant counts against the capacity.
  void occupy(TaskRow& row, Slot at_instance, const Grant& grant) {
    InstanceRow& place = s.instances_[at_instance];
    row.at = at_instance;
    row.held = grant;
    place.occupants.push_back(row.slot);
    place.used += grant.amount;
    s.sums_.used += grant.amount;
    ++job_of(row).gang.holding;
  }

  void vacate(TaskRow& row) {
    InstanceRow& place = s.instances_[row.at];
    erase_value(place.occupants, row.slot);
    place.used -= row.held.amount;
    s.sums_.used -= row.held.amount;
    --job_of(row).gang.holding;
    if (place.occupants.empty()) place.used = {};
    row.at = kNoSlot;
    row.held = {};
  }

  void append_pending(TaskRow& row) {
    s.pending_.append(s.tasks_, row.slot);
    row.queued = ++s.next_queued_;
    s.waiting_demand_ += s.nominal_demand(row.shape);
  }

  void remove_pending(TaskRow& row) {
    s.pending_.remove(s.tasks_, row.slot);
    s.waiting_demand_ -= s.nominal_demand(row.shape);
  }

  /// Takes the task out of the phase it is in; the caller puts it into the next one at once.
  void leave_phase(TaskRow& row) {
    --count(row.phase);
    if (std::uint32_t* of_job = tally(job_of(row), row.phase)) --*of_job;
    if (row.phase == TaskPhase::pending) remove_pending(row);
    if (row.phase == TaskPhase::assigned) s.assigned_.remove(s.tasks_, row.slot);
  }

  void enter_phase(TaskRow& row, TaskPhase phase) {
    leave_phase(row);
    JobRow& job = job_of(row);
    // What would wait for a place is held while the user wants the job to get none.
    if (phase == TaskPhase::pending && job.held_by_user) phase = TaskPhase::held;
    row.phase = phase;
    ++count(phase);
    if (std::uint32_t* of_job = tally(job, phase)) ++*of_job;
    // held_from is where the next search for a task to release begins.
    if (phase == TaskPhase::held || phase == TaskPhase::capped) {
      job.held_from = std::min(job.held_from, row.index);
    } else if (phase == TaskPhase::pending) {
      append_pending(row);
    } else if (phase == TaskPhase::assigned) {
      s.assigned_.append(s.tasks_, row.slot);
      row.queued = ++s.next_queued_;
    }
    recount(row);
  }

  void wait_again(TaskRow& row, const Refusal& reason) {
    drop_target(row);
    enter_phase(row, TaskPhase::pending);
    row.reason = reason;
  }

  ClassId intern_class(const std::string& name) {
    const ClassId next{static_cast<std::uint32_t>(s.class_names_.size())};
    const auto [entry, is_new] = s.class_ids_.emplace(name, next);
    if (is_new) s.class_names_.push_back(name);
    return entry->second;
  }

  void add_task(JobRow& job, std::uint32_t index) {
    const TaskSpec& spec = job.job.tasks[index];
    MUSTER_CHECK(!s.task_slots_.contains(spec.id), "task ids are used once");
    const Slot slot = new_row(s.tasks_, s.free_tasks_);
    s.task_slots_.emplace(spec.id, slot);
    TaskRow& row = s.tasks_[slot];
    row = {};
    row.id = spec.id;
    row.slot = slot;
    row.job = job.slot;
    row.index = index;
    row.cls = intern_class(job.job.workload_class);
    row.shape = s.intern_shape(spec.demands);
    job.tasks.push_back(slot);
    // The first max_running tasks may run at once; each later one waits for a TaskReleased.
    if (job.job.max_running > 0 && index >= job.job.max_running) {
      row.phase = TaskPhase::capped;
      row.reason = {RefusalKind::not_now, RefusalCode::in_flight_cap, {}, 1, 0};
      ++job.capped;
      ++count(TaskPhase::capped);
      return;
    }
    ++count(TaskPhase::pending);
    append_pending(row);
    ++job.pending;
  }

  void remove_instance(InstanceRow& row) {
    s.uncount_instance(row);
    s.unlist_instance(row.slot);
    s.live_.remove(s.instances_, row.slot);
    s.instance_slots_.erase(row.id);
    s.free_instances_.push_back(row.slot);
  }

  void operator()(const JobAccepted& e) {
    MUSTER_CHECK(!s.job_slots_.contains(e.job.id), "job ids are used once");
    MUSTER_CHECK(!e.job.tasks.empty(), "a job has at least one task");
    const Slot slot = new_row(s.jobs_, s.free_jobs_);
    s.job_slots_.emplace(e.job.id, slot);
    JobRow& row = s.jobs_[slot];
    row = {};
    row.job = e.job;
    row.slot = slot;
    row.accepted_at = at;
    s.active_.append(s.jobs_, slot);
    ++count(row.counted);
    for (std::uint32_t i = 0; i < row.job.tasks.size(); ++i) add_task(row, i);
  }

  void operator()(const TaskRefused& e) {
    TaskRow& row = task(e.task);
    row.reason = e.refusal;
    recount(row);
  }
  void operator()(const RoundDecided&) {}
  void operator()(const PlanPartRefused&) {}
  void operator()(const Measured&) {}

  void operator()(const LaunchRequested& e) {
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

  void operator()(const LaunchRefused& e) {
    InstanceRow& row = instance(e.instance);
    MUSTER_CHECK(row.phase == InstancePhase::requested, "only a request can be refused");
    // A copy: losing their place takes them off the list.
    const std::vector<Slot> planned = row.planned;
    for (Slot slot : planned) lose_place(s.tasks_[slot], e.refusal);
    remove_instance(row);
  }

  void operator()(const InstanceUp& e) {
    InstanceRow& row = instance(e.instance);
    MUSTER_CHECK(!row.up, "an instance comes up once");
    row.up = true;
    row.up_at = e.billed_from.value_or(at);
    s.sums_.up_nano_usd_h += row.price.nano_usd_h();
    if (row.phase == InstancePhase::requested) row.phase = InstancePhase::booting;
    for (Slot slot : row.planned) recount(s.tasks_[slot]);
  }

  void operator()(const InstanceReady& e) {
    InstanceRow& row = instance(e.instance);
    MUSTER_CHECK(row.phase == InstancePhase::booting, "an instance gets ready once, when it is up");
    row.phase = InstancePhase::ready;
  }

  void operator()(const ReleaseDecided& e) {
    InstanceRow& row = instance(e.instance);
    MUSTER_CHECK(row.planned.empty(), "an instance that tasks are meant for is not released");
    // A second release must not take the capacity out of the sum again.
    if (!row.released) s.sums_.open_capacity -= (*s.catalog_)[row.type].capacity;
    row.released = true;
  }

  void operator()(const TerminateIssued& e) {
    InstanceRow& row = instance(e.instance);
    MUSTER_CHECK(row.released, "only a released instance is ended");
    row.phase = InstancePhase::terminating;
  }

  /// The task's planned place is no more. When it still runs elsewhere it goes on there.
  void lose_place(TaskRow& row, const Refusal& reason) {
    if (row.phase == TaskPhase::assigned) {
      wait_again(row, reason);
    } else {
      drop_target(row);
    }
  }

  void operator()(const InstanceGone& e) {
    InstanceRow& row = instance(e.instance);
    // Copied: vacate() takes the occupants off the row's list.
    const Refusal lost{RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0};
    const std::vector<Slot> occupants = row.occupants;
    for (Slot slot : occupants) {
      TaskRow& lost_task = s.tasks_[slot];
      vacate(lost_task);
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

  void operator()(const TaskAssigned& e) {
    TaskRow& row = task(e.task);
    InstanceRow& to = instance(e.to);
    MUSTER_CHECK(!to.released, "nothing is placed on a released instance");
    MUSTER_CHECK(row.phase != TaskPhase::finished && row.phase != TaskPhase::failed,
                 "a task that has ended needs no place");
    set_target(row, to.slot, granted(e.grant, row, to));
    if (row.phase == TaskPhase::pending) enter_phase(row, TaskPhase::assigned);
    row.reason = {RefusalKind::not_now, RefusalCode::awaiting_instance, {}, 0, 0};
    recount(row);
  }

  void operator()(const TaskUnassigned& e) {
    lose_place(task(e.task), {RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0});
  }

  void operator()(const StartIssued& e) {
    TaskRow& row = task(e.task);
    const InstanceRow& place = instance(e.instance);
    MUSTER_CHECK(row.phase == TaskPhase::assigned, "only a task that has a place can start");
    MUSTER_CHECK(row.target == place.slot, "a task starts where it is meant to be");
    MUSTER_CHECK(e.attempt == row.attempt + 1, "each start raises the attempt by one");
    const Grant grant = granted(e.grant, row, place);
    MUSTER_CHECK((place.used + grant.amount).fits_in((*s.catalog_)[place.type].capacity),
                 "an instance is never filled over its capacity");
    row.attempt = e.attempt;
    enter_phase(row, TaskPhase::starting);
    occupy(row, place.slot, grant);
  }

  void operator()(const TaskStarted& e) {
    TaskRow& row = task(e.task);
    MUSTER_CHECK(row.phase == TaskPhase::starting && row.attempt == e.attempt,
                 "only the present attempt can start");
    row.seen_load = e.fetch + e.build;
    row.started_at = at;
    enter_phase(row, TaskPhase::running);
  }

  void operator()(const StopIssued& e) {
    TaskRow& row = task(e.task);
    MUSTER_CHECK(row.phase == TaskPhase::running && row.attempt == e.attempt,
                 "only a running attempt is stopped");
    enter_phase(row, TaskPhase::stopping);
  }

  void operator()(const TaskCheckpointed& e) {
    TaskRow& row = task(e.task);
    MUSTER_CHECK(row.phase == TaskPhase::stopping && row.attempt == e.attempt,
                 "only a stopped attempt leaves");
    row.seen_upload = e.upload;
    // From the end of its progress to now the checkpoint was saved.
    const bool saved = job_of(row).job.checkpoints || e.end.exit_code == kCheckpointedExit;
    if (saved) row.ran += std::max(Duration{}, at - e.upload - started(row));
    vacate(row);
    enter_phase(row, row.target == kNoSlot ? TaskPhase::pending : TaskPhase::assigned);
  }

  void operator()(const TaskFinished& e) {
    TaskRow& row = task(e.task);
    MUSTER_CHECK(row.phase == TaskPhase::running || row.phase == TaskPhase::stopping,
                 "only a task that runs can finish");
    MUSTER_CHECK(row.attempt == e.attempt, "only the present attempt can finish");
    row.ran += at - started(row);
    vacate(row);
    drop_target(row);
    enter_phase(row, TaskPhase::finished);
  }

  void operator()(const TaskFailed& e) {
    TaskRow& row = task(e.task);
    MUSTER_CHECK(row.at != kNoSlot && row.attempt == e.attempt,
                 "only the present attempt can fail");
    vacate(row);
    const Refusal failed{RefusalKind::broken, RefusalCode::task_failed, {}, 0, 0};
    const Refusal again{RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0};
    if (!e.for_good) return wait_again(row, e.blameless ? again : failed);
    drop_target(row);
    row.reason = failed;
    enter_phase(row, TaskPhase::failed);
  }

  void operator()(const TaskReleased& e) {
    TaskRow& row = task(e.task);
    MUSTER_CHECK(row.phase == TaskPhase::capped,
                 "a task is released from the cap of its job, and from nothing else");
    enter_phase(row, TaskPhase::pending);
    row.reason = {};
    JobRow& job = job_of(row);
    if (row.index == job.held_from) ++job.held_from;
  }

  void operator()(const JobHeld& e) {
    JobRow& job = s.jobs_[slot_of(s.job_slots_, e.job)];
    job.held_by_user = true;
    restate(job);
    const Refusal held{RefusalKind::not_now, RefusalCode::held, {}, 0, 0};
    // Attempts that run go on; only tasks without one lose their place.
    for (Slot slot : job.tasks) {
      TaskRow& row = s.tasks_[slot];
      if (row.phase == TaskPhase::assigned) {
        wait_again(row, held);
      } else if (row.phase == TaskPhase::pending || row.phase == TaskPhase::capped) {
        enter_phase(row, TaskPhase::held);
        row.reason = held;
      }
    }
  }

  void operator()(const JobReleased& e) {
    JobRow& job = s.jobs_[slot_of(s.job_slots_, e.job)];
    job.held_by_user = false;
    restate(job);
    // By index: the lowest indices take the in-flight capacity, the others are capped.
    for (Slot slot : job.tasks) {
      TaskRow& row = s.tasks_[slot];
      if (row.phase != TaskPhase::held) continue;
      if (job.room_in_flight() > 0) {
        enter_phase(row, TaskPhase::pending);
        row.reason = {};
      } else {
        enter_phase(row, TaskPhase::capped);
        row.reason = {RefusalKind::not_now, RefusalCode::in_flight_cap, {}, 1, 0};
      }
    }
  }

  void operator()(const GangTurn&) {}
  void operator()(const OfferingChanged& e) { s.change_offering(e.change); }

  void operator()(const JobTerminating& e) {
    JobRow& job = s.jobs_[slot_of(s.job_slots_, e.job)];
    job.terminal_outcome = e.outcome;
    restate(job);
  }

  void operator()(const JobFinished& e) {
    JobRow& row = s.jobs_[slot_of(s.job_slots_, e.job)];
    for (Slot slot : row.tasks) {
      TaskRow& done = s.tasks_[slot];
      MUSTER_CHECK(done.at == kNoSlot, "a job is over when none of its tasks holds resources");
      drop_target(done);
      leave_phase(done);
      s.leave_shape(done.shape);
      s.task_slots_.erase(done.id);
      s.free_tasks_.push_back(slot);
    }
    --count(row.counted);
    s.active_.remove(s.jobs_, row.slot);
    s.free_jobs_.push_back(row.slot);
    s.job_slots_.erase(e.job);
    row = {};
  }
};

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
    for (Slot slot : job.tasks) {
      const TaskRow& task = tasks_[slot];
      ++shapes_[task.shape.value].tasks;
      ++applier.count(task.phase);
      job.held += task.phase == TaskPhase::held;
      job.capped += task.phase == TaskPhase::capped;
      job.starting += task.phase == TaskPhase::starting;
      job.stopping += task.phase == TaskPhase::stopping;
      job.failed += task.phase == TaskPhase::failed;
      job.gang.holding += task.at != kNoSlot;
      applier.recount(tasks_[slot]);
    }
    applier.restate(job);
  }
  derive_shapes();
  for (const InstanceRow& row : instances()) {
    list_instance(row.slot);
    count_instance(row);
    for (Slot slot : row.planned) sums_.committed += tasks_[slot].planned.amount;
    for (Slot slot : row.occupants) sums_.used += tasks_[slot].held.amount;
  }
}

void ClusterState::apply(const Event& event) {
  std::visit(Applier{*this, event.at}, event.body);
}

}  // namespace muster

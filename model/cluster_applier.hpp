#pragma once

#include <algorithm>
#include <concepts>
#include <utility>

#include "model/check.hpp"
#include "model/cluster_state.hpp"
#include "model/gang_counts.hpp"
#include "model/row_tables.hpp"
#include "model/task_wanted.hpp"

// For the cluster state alone: how it changes.

namespace muster {

/// Grant of an event; events of earlier versions granted what the task demands.
inline Grant granted(const ClusterState& state, const std::optional<Grant>& grant,
                     const TaskRow& task, const InstanceRow& on) {
  const FamilyDemand* demand = state.demand(task, on.type);
  MUSTER_CHECK(demand != nullptr, "a task is only ever on a family that it has a demand for");
  return grant ? *grant : Grant::of(demand->amount);
}

/// The task keeps its gang from starting.
inline bool blocks_gang(const ClusterState& state, const TaskRow& row) {
  if (row.phase == TaskPhase::stopping) return true;
  return row.phase == TaskPhase::assigned && row.target != kNoSlot &&
         !state.instance(row.target).up;
}

inline constexpr Refusal kCapped{RefusalKind::not_now, RefusalCode::in_flight_cap, {}, 1, 0};

inline constexpr Refusal kAwaits{RefusalKind::not_now, RefusalCode::awaiting_counterpart, {}, 0, 0};

inline constexpr Refusal kSpare{RefusalKind::not_now, RefusalCode::spare_replica, {}, 1, 0};

/// Why a capped task has no place.
inline Refusal reason_of_capped(const TaskRow& row, const JobRow& job) {
  if (row.awaits) return kAwaits;
  if (job.job.service() != nullptr && !row.wanted) return kSpare;
  if (row.rests_until == Instant{}) return kCapped;
  const double setbacks = row.setbacks;
  return {RefusalKind::not_now, RefusalCode::restart_pause, {}, setbacks, 0};
}

/// Nothing keeps the task from a place but that its job is not to have it.
inline bool is_spare(const TaskRow& row, const JobRow& job) {
  return row.phase == TaskPhase::capped && (job.width > 0 || is_unwanted(row, job));
}

/// It is not to have a place now.
inline bool has_no_turn(const TaskRow& row, const JobRow& job) {
  return row.awaits || is_beyond_width(row, job) || row.rests_until > Instant{} ||
         is_unwanted(row, job);
}

/// The task holds no resources any more. As a replica that is not wanted it has no place either.
template <class Applier>
void leave_service(Applier& applier, TaskRow& row) {
  row.replica.reset();
  row.ready_since = {};
  JobRow& job = applier.job_of(row);
  if (!is_unwanted(row, job)) return;
  --job.leaving;
  if (row.target != kNoSlot) applier.drop_target(row);
}

/// A replica's numbers are those of where it runs, and not of where it ran.
template <class Applier>
void begin_attempt(Applier& applier, TaskRow& row, Attempt attempt) {
  row.attempt = attempt;
  if (applier.job_of(row).job.service() != nullptr) row.metrics.clear();
}

/// The task of the attempt has begun to run.
template <class Applier>
void begin_run(Applier& applier, TaskRow& row, const TaskStarted& e) {
  row.seen_load = e.fetch + e.build;
  row.started_at = applier.at;
  applier.job_of(row).started = true;
}

template <class Event>
concept OfAService = std::same_as<Event, ReplicaChanged> || std::same_as<Event, ReplicaWanted> ||
    std::same_as<Event, ServiceScaled> || std::same_as<Event, ServiceSettled>;

template <class Event>
concept OfAHold = std::same_as<Event, TaskReleased> || std::same_as<Event, CounterpartOver> ||
    std::same_as<Event, JobHeld> || std::same_as<Event, JobReleased> ||
    std::same_as<Event, JobResized>;

/// The transition function: one operator() a kind of event.
struct ClusterState::Applier {
  ClusterState& s;
  Instant at;

  TaskRow& task(TaskId id) { return s.tasks_[slot_of(s.task_slots_, id)]; }
  InstanceRow& instance(InstanceId id) { return s.instances_[slot_of(s.instance_slots_, id)]; }
  JobRow& job_of(const TaskRow& task) { return s.jobs_[task.job]; }
  /// Rows that an earlier version kept do not know when their attempts started.
  Instant started(const TaskRow& row) { return std::max(row.started_at, job_of(row).accepted_at); }

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
    if (const bool now = blocks_gang(s, row); now != row.blocks_gang) {
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
    leave_service(*this, row);
  }

  /// An attempt is over, by its own end or with something gained.
  void note_progress(TaskRow& row) {
    job_of(row).confined -= s.is_too_many(row.fruitless);
    row.fruitless = 0;
  }
  /// It was interrupted or moved, and nothing was gained.
  void note_fruitless(TaskRow& row) {
    job_of(row).confined -= s.is_too_many(row.fruitless);
    ++row.fruitless;
    job_of(row).confined += s.is_too_many(row.fruitless);
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
    s.work_.beyond_width -= is_spare(row, job_of(row));
    if (std::uint32_t* of_job = tally(job_of(row), row.phase)) --*of_job;
    if (row.phase == TaskPhase::pending) remove_pending(row);
    if (row.phase == TaskPhase::assigned) s.assigned_.remove(s.tasks_, row.slot);
  }

  void enter_phase(TaskRow& row, TaskPhase phase) {
    leave_phase(row);
    JobRow& job = job_of(row);
    // A task that would wait for a place is held while the user wants the job to get no place, and
    // left out when the job is not so wide any more.
    if (phase == TaskPhase::pending && job.held_by_user) phase = TaskPhase::held;
    if (phase == TaskPhase::pending && has_no_turn(row, job)) phase = TaskPhase::capped;
    row.phase = phase;
    ++count(phase);
    s.work_.beyond_width += is_spare(row, job_of(row));
    if (std::uint32_t* of_job = tally(job, phase)) ++*of_job;
    // Where the next search for a task to release begins.
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
    row.reason = row.phase == TaskPhase::capped ? reason_of_capped(row, job_of(row)) : reason;
  }

  /// The task is to wait for a place; it is held or capped instead where its job says so.
  void let_wait(TaskRow& row) {
    enter_phase(row, TaskPhase::pending);
    row.reason = row.phase == TaskPhase::capped ? reason_of_capped(row, job_of(row)) : Refusal{};
  }

  /// `awaits`: the job's tasks wait for their counterparts.
  void add_task(JobRow& job, std::uint32_t index, bool awaits) {
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
    if (index == 0) {
      row.cls = s.classes_.join(job.job.workload_class);
    } else {
      row.cls = s.tasks_[job.tasks.front()].cls;
      s.classes_.join(row.cls);
    }
    // Tasks of an array share their demands, so that the shape of the one before is this one's.
    const bool as_before = index > 0 && spec.demands.shares_with(job.job.tasks[index - 1].demands);
    row.shape = as_before ? s.shapes_.join(s.tasks_[job.tasks.back()].shape)
                          : s.shapes_.intern(*s.catalog_, spec.demands, job.job.constraint);
    job.tasks.push_back(slot);
    // The first max_running tasks may run at once; each later one waits for a TaskReleased. Those
    // of an elastic job wait for a JobResized.
    const std::uint32_t most = job.width > 0 ? job.width : job.job.max_running;
    row.wanted = job.job.service() != nullptr && index < job.wanted;
    row.awaits = awaits;
    job.awaiting += awaits;
    if (awaits || is_unwanted(row, job) || (most > 0 && index >= most)) {
      row.phase = TaskPhase::capped;
      row.reason = reason_of_capped(row, job);
      ++job.capped;
      ++count(TaskPhase::capped);
      s.work_.beyond_width += is_spare(row, job_of(row));
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

  void operator()(const JobAccepted&);
  void operator()(const TaskRefused&);
  void operator()(const RoundDecided&);
  void operator()(const PlanPartRefused&);
  void operator()(const Measured&);
  struct OfServices;
  template <OfAService Event>
  void operator()(const Event& e);
  struct OfHolds;
  template <OfAHold Event>
  void operator()(const Event& e);
  void operator()(const LaunchRequested&);
  void operator()(const LaunchRefused&);
  void operator()(const InstanceUp&);
  void operator()(const InstanceReady&);
  void operator()(const OwnCheckpoints& e) { instance(e.instance).own_checkpoints = true; }
  void operator()(const ReleaseDecided&);
  void operator()(const TerminateIssued&);
  /// Its planned place is no more; one that still runs elsewhere goes on there.
  void lose_place(TaskRow& row, const Refusal& reason);
  void operator()(const InstanceGone&);
  void operator()(const TaskAssigned&);
  void operator()(const TaskUnassigned&);
  void operator()(const StartIssued&);
  void operator()(const TaskStarted&);
  void operator()(const StopIssued&);
  void operator()(const TaskCheckpointed&);
  void operator()(const TaskFinished&);
  void operator()(const TaskFailed&);
  void operator()(const GangTurn&);
  void operator()(const RoomClaimed&);
  void operator()(const OfferingChanged&);
  void operator()(const JobTerminating&);
  void operator()(const JobFinished&);
};

/// Events of services.
struct ClusterState::Applier::OfServices {
  Applier& a;
  ClusterState& s;

  /// Gives a service that has been accepted its replicas.
  void begin(JobRow& job, const ServiceSpec& service) const;
  void apply(const ReplicaChanged& e) const;
  void apply(const ReplicaWanted& e) const;
  void apply(const ServiceScaled& e) const;
  void apply(const ServiceSettled& e) const;
  /// The revision before hears of one that was given up.
  void tell_given_up(const JobRow& job) const;
  /// The replica has served its clients for as long as it stood.
  bool has_stood(const TaskRow& row) const;
};

/// Events about which tasks of a job may have places.
struct ClusterState::Applier::OfHolds {
  Applier& a;
  ClusterState& s;
  Instant at;

  void apply(const TaskReleased& e) const;
  void apply(const CounterpartOver& e) const;
  void apply(const JobHeld& e) const;
  void apply(const JobReleased& e) const;
  void apply(const JobResized& e) const;
};

template <OfAService Event>
void ClusterState::Applier::operator()(const Event& e) {
  OfServices{*this, s}.apply(e);
}

template <OfAHold Event>
void ClusterState::Applier::operator()(const Event& e) {
  OfHolds{*this, s, at}.apply(e);
}

}  // namespace muster

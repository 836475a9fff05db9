#include <utility>

#include "model/cluster_applier.hpp"

// Which tasks of a job may have places: by its user's will, by how many of it may have one at once,
// and by its width.

namespace muster {
namespace {

/// Whether the task has no place by what its job allows.
bool is_withheld(const TaskRow& task) {
  return task.phase == TaskPhase::held || task.phase == TaskPhase::capped;
}

/// A task of the job is no longer without a place: the next search begins behind all that are not.
void move_held_from(const ClusterState& state, JobRow& job) {
  while (job.held_from < job.tasks.size() && !is_withheld(state.task(job.tasks[job.held_from]))) {
    ++job.held_from;
  }
}

}  // namespace

void ClusterState::Applier::OfHolds::apply(const TaskReleased& e) const {
  TaskRow& row = a.task(e.task);
  MUSTER_CHECK(row.phase == TaskPhase::capped,
               "a task is released from the cap of its job, and from nothing else");
  row.rests_until = {};
  a.enter_phase(row, TaskPhase::pending);
  row.reason = {};
  move_held_from(s, a.job_of(row));
}

void ClusterState::Applier::OfHolds::apply(const CounterpartOver& e) const {
  TaskRow& row = a.task(e.task);
  MUSTER_CHECK(row.awaits, "a task waits for its counterparts once");
  row.awaits = false;
  JobRow& job = a.job_of(row);
  --job.awaiting;
  if (!e.lost.empty()) {
    row.reason = {RefusalKind::broken, RefusalCode::task_failed, {}, 0, 0};
    a.enter_phase(row, TaskPhase::failed);
  } else if (row.phase == TaskPhase::capped && job.room_in_flight() > 0) {
    a.let_wait(row);
  } else if (row.phase == TaskPhase::capped) {
    row.reason = kCapped;
    a.recount(row);
  }
  move_held_from(s, job);
}

void ClusterState::Applier::OfHolds::apply(const JobHeld& e) const {
  JobRow& job = s.jobs_[slot_of(s.job_slots_, e.job)];
  job.held_by_user = true;
  a.restate(job);
  const Refusal held{RefusalKind::not_now, RefusalCode::held, {}, 0, 0};
  // Attempts that run go on; only tasks without one lose their place.
  for (Slot slot : job.tasks) {
    TaskRow& row = s.tasks_[slot];
    if (row.phase == TaskPhase::assigned) {
      a.wait_again(row, held);
    } else if (row.phase == TaskPhase::pending || row.phase == TaskPhase::capped) {
      a.enter_phase(row, TaskPhase::held);
      row.reason = held;
    }
  }
}

void ClusterState::Applier::OfHolds::apply(const JobReleased& e) const {
  JobRow& job = s.jobs_[slot_of(s.job_slots_, e.job)];
  job.held_by_user = false;
  job.progressed_at = at;
  a.restate(job);
  // By index: the lowest indices take the in-flight capacity, or are of the width; the others are
  // capped.
  for (Slot slot : job.tasks) {
    TaskRow& row = s.tasks_[slot];
    if (row.phase != TaskPhase::held) continue;
    if (job.width > 0 || job.room_in_flight() > 0) {
      a.let_wait(row);
    } else {
      a.enter_phase(row, TaskPhase::capped);
      row.reason = reason_of_capped(row, job);
    }
  }
}

void ClusterState::Applier::OfHolds::apply(const JobResized& e) const {
  JobRow& job = s.jobs_[slot_of(s.job_slots_, e.job)];
  MUSTER_CHECK(job.width > 0, "only an elastic job has a width");
  MUSTER_CHECK(e.width > 0 && e.width <= job.tasks.size(), "a job's tasks are its largest width");
  const std::uint32_t before = std::exchange(job.width, e.width);
  s.work_.widths = s.work_.widths - before + e.width;
  for (std::uint32_t i = e.width; i < before; ++i) {
    TaskRow& row = s.tasks_[job.tasks[i]];
    const bool waits = row.phase == TaskPhase::pending || row.phase == TaskPhase::assigned;
    if (waits) a.wait_again(row, kCapped);
    // One that runs has no place to go on at; it is capped when it has left the one where it is.
    if (row.target != kNoSlot) a.drop_target(row);
  }
  for (std::uint32_t i = before; i < e.width; ++i) {
    TaskRow& row = s.tasks_[job.tasks[i]];
    if (row.phase == TaskPhase::capped) a.let_wait(row);
  }
}

}  // namespace muster

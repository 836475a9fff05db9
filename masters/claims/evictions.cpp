#include "masters/claims/evictions.hpp"

#include <vector>

// Takes everything off an instance. The order matters: tasks lose their places first, so that the
// instance is unused when its release is decided, and a gang that stands on several instances loses
// all of its places with the first one. A release that follows from an eviction is not ended here
// before its tasks have saved what they can: InstanceReleases ends what is empty.

namespace muster {
namespace {

/// There is time for others to take the place of what leaves.
bool has_time(CauseCode why) {
  return why == CauseCode::drained || why == CauseCode::interrupted ||
         why == CauseCode::worker_lost;
}

/// With a lost worker replicas lose their places, too, which silent ones keep.
CauseCode reason_of(CauseCode why) {
  return why == CauseCode::worker_lost ? CauseCode::evicted : why;
}

}  // namespace

Evictions::Evictions(const MasterCommands& commands, const Parts& parts)
    : commands_(commands), guard_(parts.guard), fleet_(parts.fleet), services_(parts.services) {}

bool Evictions::evict(InstanceId id, CauseCode why, Instant now) {
  const InstanceRow* row = state().find(id);
  if (row == nullptr) return false;
  if (row->released) {
    stop_occupants(*row, why, now);
    services_.advance(now);
    return true;
  }
  const Refusal reason{RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0};
  while (!row->planned.empty()) {
    const TaskRow& task = state().task(row->planned.front());
    const JobRow& job = state().job(task.job);
    if (has_time(why) && services_.relieve(task, reason_of(why), now)) continue;
    // A task that runs elsewhere and was to come here has only lost its target.
    const bool runs_elsewhere = task.phase == TaskPhase::running && task.at != row->slot;
    const bool alone = !job.job.gang || job.tasks.size() == 1;
    if (runs_elsewhere && alone && why != CauseCode::spend_cap) {
      commands_.recorder.record(TaskUnassigned{task.id, {why, 0}}, now);
      commands_.tasks.stay_or_leave(task.id, now);
      continue;
    }
    commands_.tasks.unassign(task.id, {why, 0}, now);
    commands_.tasks.unassign_gang(job, reason, now);
    if (state().find(id)->released) break;  // its last task was one of the peers
  }
  stop_occupants(*state().find(id), why, now);
  if (why == CauseCode::drained) fleet_.shrink(*state().find(id));
  if (!state().find(id)->released) release(*row, why, now);
  services_.advance(now);
  commands_.releases.end_empty(now);
  return true;
}

/// Tasks that were to move as soon as their next instance is ready have to leave at once.
void Evictions::stop_occupants(const InstanceRow& row, CauseCode why, Instant now) {
  const std::vector<Slot> there = row.occupants;
  for (Slot slot : there) {
    const TaskRow& task = state().task(slot);
    if (has_time(why) && services_.relieve(task, reason_of(why), now)) continue;
    // One that leaves already has no place to lose: its log says why it stops before others do
    // without it.
    const bool leaves = state().job(task.job).job.service() != nullptr && !task.wanted &&
                        task.phase == TaskPhase::running;
    if (leaves) commands_.recorder.record(ReplicaWanted{task.id, false, {why, 0}}, now);
    commands_.tasks.stop_if_running(task.id, now);
  }
}

void Evictions::release(const InstanceRow& row, CauseCode why, Instant now) {
  commands_.recorder.record(guard_.release(row.id, {why, -row.price.usd_h()}, now), now);
}

bool Evictions::abandon(InstanceId id, CauseCode why, Instant now) {
  const InstanceRow* row = state().find(id);
  if (row == nullptr) return false;
  if (row->phase == InstancePhase::terminating) return true;
  const bool released = row->released;
  evict(id, why, now);
  row = state().find(id);
  if (row->phase == InstancePhase::terminating) return true;
  if (released) release(*row, why, now);
  commands_.cloud.end(id, now);
  return true;
}

void Evictions::keep_caps(Instant now) {
  const CapStep step = guard_.due(now);
  if (step == CapStep::none) return;
  std::vector<InstanceId> all;
  for (const InstanceRow& row : state().instances()) {
    if (!commands_.recorder.memory().is_owned(row)) all.push_back(row.id);
  }
  for (InstanceId id : all) {
    if (step == CapStep::save) {
      evict(id, CauseCode::spend_cap, now);
      continue;
    }
    abandon(id, CauseCode::spend_cap, now);
    guard_.end_at_once(id);
  }
  if (step == CapStep::end) guard_.repeat_ends();
}

}  // namespace muster

// The part of a master that brings what it knows and what is the case together again: after
// crashes, lost messages and notices.

#include <utility>

#include "masters/master.hpp"

namespace muster {

void Master::compare_attempts(InstanceId id, const std::set<KnownAttempt>& known, Instant now) {
  std::set<KnownAttempt> expected;
  if (const InstanceRow* row = state_.find(id)) {
    const std::vector<Slot> occupants = row->occupants;
    for (Slot slot : occupants) {
      const TaskRow& task = state_.task(slot);
      const KnownAttempt attempt{task.id, task.attempt};
      expected.insert(attempt);
      if (known.contains(attempt)) {
        if (task.phase == TaskPhase::stopping) {
          commit_.effects.emplace_back(StopTask{task.id, task.attempt, id});
        }
      } else if (task.phase == TaskPhase::starting) {
        commit_.effects.emplace_back(StartTask{task.id, task.attempt, id});
      } else {
        task_failed({task.id,
                     task.attempt,
                     "its worker does not know of it any more",
                     {},
                     true,
                     FailureKind::lost},
                    now);
      }
    }
  }
  for (const KnownAttempt& attempt : known) {
    if (expected.contains(attempt)) continue;
    commit_.effects.emplace_back(StopTask{attempt.first, attempt.second, id});
  }
}

bool Master::evict(InstanceId id, CauseCode why, Instant now) {
  const InstanceRow* row = state_.find(id);
  if (row == nullptr) return false;
  if (row->released) return true;
  const Refusal reason{RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0};
  while (!row->planned.empty()) {
    const TaskRow& task = state_.task(row->planned.front());
    const JobRow& job = state_.job(task.job);
    record(TaskUnassigned{task.id, {why, 0}}, now);
    stop_if_running(task.id, now);
    unassign_gang(job, reason, now);
    if (state_.find(id)->released) break;  // its last task was one of the peers
  }
  if (why == CauseCode::drained) shrink_fleet(*state_.find(id));
  if (!state_.find(id)->released) release(id, {why, -row->price.usd_h()}, now);
  end_empty_instances(now);
  return true;
}

void Master::release(InstanceId id, const Cause& cause, Instant now) {
  ReleaseDecided release{id, cause};
  if (cause.code == CauseCode::spend_cap) {
    release.capped_day = static_cast<std::int32_t>(day_of(now + cloud_ahead_));
    release.capped_usd = settings_.caps.max_usd_day;
  }
  record(release, now);
}

bool Master::abandon(InstanceId id, CauseCode why, Instant now) {
  const InstanceRow* row = state_.find(id);
  if (row == nullptr) return false;
  if (row->phase == InstancePhase::terminating) return true;
  const bool released = row->released;
  evict(id, why, now);
  row = state_.find(id);
  if (row->phase == InstancePhase::terminating) return true;
  if (released) release(id, {why, -row->price.usd_h()}, now);
  record(TerminateIssued{id}, now);
  commit_.effects.emplace_back(EndInstance{id});
  return true;
}

void Master::remind() {
  for (InstanceId id : unanswered_) ask_after(id);
}

void Master::ask_after(InstanceId id) {
  const InstanceRow* row = state_.find(id);
  if (row == nullptr) return;
  if (row->phase == InstancePhase::terminating) {
    commit_.effects.emplace_back(EndInstance{id});
  } else {
    commit_.effects.emplace_back(
        LaunchInstance{id, row->type, row->market, row->zone, row->max_price});
  }
}

void Master::ask_after_all() {
  for (const InstanceRow& row : state_.instances()) ask_after(row.id);
}

DryRun Master::dry_run(Job job, Instant now) const {
  return planner_->dry_run(std::move(job), wish(now), limits(now));
}

}  // namespace muster

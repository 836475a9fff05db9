// The part of a master that brings what it knows and what is the case together again: after
// crashes, lost messages, notices, and when money runs out.

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
          commit_.effects.push_back(StopTask{task.id, task.attempt, id});
        }
      } else if (task.phase == TaskPhase::starting) {
        commit_.effects.push_back(StartTask{task.id, task.attempt, id});
      } else {
        task_failed({task.id, task.attempt, "its worker does not know of it any more", {}}, now);
      }
    }
  }
  for (const KnownAttempt& attempt : known) {
    if (expected.contains(attempt)) continue;
    commit_.effects.push_back(StopTask{attempt.first, attempt.second, id});
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
    let_go_of_peers(job, reason, now);
    if (state_.find(id)->released) break;  // its last task was one of the peers
  }
  if (why == CauseCode::drained) shrink_fleet(*state_.find(id));
  if (!state_.find(id)->released) record(ReleaseDecided{id, {why, -row->price.usd_h()}}, now);
  end_empty_instances(now);
  return true;
}

void Master::keep_caps(Instant now) {
  if (caps_.max_usd_day <= 0) return;
  double usd_h = 0;
  std::vector<InstanceId> all;
  for (const InstanceRow& row : state_.instances()) {
    usd_h += row.price.usd_h();
    if (!row.released) all.push_back(row.id);
  }
  if (spent_today(now).usd() + usd_h * to_hours(caps_.spend_margin) < caps_.max_usd_day) return;
  for (InstanceId id : all) evict(id, CauseCode::spend_cap, now);
}

void Master::remind(bool all) {
  for (const InstanceRow& row : state_.instances()) {
    if (row.phase == InstancePhase::terminating) {
      commit_.effects.push_back(EndInstance{row.id});
    } else if (all || row.phase != InstancePhase::ready) {
      commit_.effects.push_back(LaunchInstance{row.id, row.type, row.market});
    }
  }
}

Master::DryRun Master::dry_run(Job job, Instant now) const {
  auto state = std::make_shared<ClusterState>(state_);
  const Event accepted{now, JobAccepted{std::move(job)}};
  state->apply(accepted);
  const std::unique_ptr<Policy> policy = policy_->clone();
  const ClusterView shown{*state, *catalog_, now, Market::on_demand, !fleet_.empty()};
  policy->observe(accepted, shown);
  Rng rng = chance();
  DryRun run{policy->decide(shown, rng), {}, {}};
  run.checked = check_plan(run.plan, *state, limits(now));
  run.state = std::move(state);
  return run;
}

}  // namespace muster

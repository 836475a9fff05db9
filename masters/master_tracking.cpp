// What a master does with its events besides remembering them: the lists of what is left to do, and
// how it comes back after a crash.

#include <utility>

#include "masters/cell_pieces.hpp"
#include "masters/master.hpp"

namespace muster {

/// What an event changes in the lists of what is left to do; called before it is remembered.
struct Master::Tracker {
  Master& m;

  void operator()(const LaunchRequested& e) {
    m.over_fleet_.clear();
    m.unanswered_.insert(e.instance);
  }
  void operator()(const LaunchRefused& e) {
    m.over_fleet_.clear();
    m.ended_at_once_.erase(e.instance);
    m.releasing_.erase(e.instance);
    m.unanswered_.erase(e.instance);
  }
  void operator()(const ReleaseDecided& e) {
    m.over_fleet_.clear();
    m.releasing_.emplace(e.instance, m.releases_++);
    m.emptied_.push_back(e.instance);
  }
  void operator()(const TerminateIssued& e) {
    m.releasing_.erase(e.instance);
    m.unanswered_.insert(e.instance);
  }
  void operator()(const InstanceUp& e) {
    const bool ending = m.state_.find(e.instance)->phase == InstancePhase::terminating;
    if (!ending) m.unanswered_.erase(e.instance);
  }
  void operator()(const InstanceGone& e) {
    m.over_fleet_.clear();
    m.unanswered_.erase(e.instance);
    m.ended_at_once_.erase(e.instance);
    m.releasing_.erase(e.instance);
  }
  void leave(TaskId id) {
    const InstanceRow& left = m.state_.instance(m.state_.find(id)->at);
    if (left.released) m.emptied_.push_back(left.id);
  }
  void operator()(const TaskCheckpointed& e) { leave(e.task); }
  void operator()(const TaskFinished& e) { leave(e.task); }
  void operator()(const TaskFailed& e) { leave(e.task); }
  template <class Other>
  void operator()(const Other&) {}
};

void Master::absorb(const Event& event) {
  std::visit(Tracker{*this}, event.body);
  candidates_.before(event, state_);
  memory_.absorb(event);
  candidates_.after(state_);
}

JobHistory Master::history_of(const JobFinished& over, Instant now) const {
  const JobRow& row = *state_.find(over.job);
  JobHistory history{row.job, over.outcome, row.accepted_at, now, over.mean_throughput, {}};
  for (Slot slot : row.tasks) {
    const TaskId id = state_.task(slot).id;
    const auto known = known_.tasks.find(id);
    history.tasks.push_back(known == known_.tasks.end() ? TaskHistory{} : known->second);
    TaskHistory& task = history.tasks.back();
    task.cost = ledger_.task(id);
    const Refusal& refusal = state_.task(slot).reason;
    if (over.outcome == JobOutcome::refused && refusal.kind == RefusalKind::never) {
      task.reason = cell::sentence(refusal);
    }
  }
  return history;
}

const TaskHistory* Master::task_history(TaskId id) const {
  const auto found = known_.tasks.find(id);
  return found == known_.tasks.end() ? nullptr : &found->second;
}

const JobFailures* Master::failures_of(JobId id) const {
  const auto found = known_.failures.find(id);
  return found == known_.failures.end() ? nullptr : &found->second;
}

std::vector<FailedPart> Master::failing_parts() const {
  std::vector<FailedPart> parts;
  for (const JobId id : known_.failing) {
    const JobRow& row = *state_.find(id);
    parts.push_back({id, row.failed, *row.job.max_fails});
  }
  return parts;
}

std::optional<Instant> Master::up_since(InstanceId id) const {
  const InstanceRow* row = state_.find(id);
  return row == nullptr || !row->up ? std::nullopt : std::optional(row->up_at);
}

MasterSnapshot Master::snapshot() const {
  return planner_->snapshot();
}

std::string Master::restore(std::optional<MasterSnapshot> snapshot, std::span<const Event> tail) {
  std::string trouble;
  if (snapshot) {
    const std::string words = std::move(snapshot->policy_state);
    memory_.restore(std::move(*snapshot));
    for (const InstanceRow& row : state_.instances()) {
      if (!row.up || row.phase == InstancePhase::terminating) unanswered_.insert(row.id);
      if (!row.released || row.phase == InstancePhase::terminating) continue;
      releasing_.emplace(row.id, releases_++);
      emptied_.push_back(row.id);
    }
    candidates_.mark_all(state_);
    trouble = planner_->restore(words, tail.empty() ? known_.newest : tail[0].at);
  }
  const RoundsOfLog rounds(tail);
  for (std::size_t i = 0; i < tail.size(); ++i) {
    for (const Event& round : rounds.decided_before(i)) planner_->show(round);
    absorb(tail[i]);
    planner_->show(tail[i]);
  }
  // Whether all of the fleet was there is not on record: the next round looks.
  fleet_is_short_ = !fleet_.empty();
  return trouble;
}

}  // namespace muster

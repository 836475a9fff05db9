#include "masters/view/decision_log.hpp"

#include <algorithm>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "masters/view/attempt_views.hpp"

namespace muster {
namespace {

/// How a change differs from others of one decision. Those that differ only in how many tasks of
/// the job they are of are one.
struct ChangeKey {
  ChangeKind change = ChangeKind::place;
  CauseCode cause = CauseCode::alone;
  JobId job{};
  InstanceId instance{};
  InstanceId from{};
};

bool is_of(const ChangeView& change, const ChangeKey& key) {
  return change.change == key.change && change.job == key.job && change.instance == key.instance &&
         change.from == key.from && change.cause == name_of(key.cause);
}

bool is_about(const DecisionView& decision, const DecisionsQuestion& wanted) {
  const auto names = [&](const ChangeView& change) {
    const bool job = !wanted.job.valid() || change.job == wanted.job;
    const bool instance = !wanted.instance.valid() || change.instance == wanted.instance ||
                          change.from == wanted.instance;
    return job && instance;
  };
  if (wanted.since && decision.at < *wanted.since) return false;
  if (!wanted.job.valid() && !wanted.instance.valid()) return true;
  return std::ranges::any_of(decision.changes, names);
}

}  // namespace

/// Takes the changes of events into a decision.
struct DecisionLog::Watch {
  DecisionView& into;
  const ClusterState& state;

  void operator()(const LaunchRequested& e) {
    if (++into.launches > kMostOfInstances) return leave_out();
    add({ChangeKind::rent, e.cause.code, {}, e.instance, {}}).usd_h = e.price.usd_h();
  }
  void operator()(const ReleaseDecided& e) {
    if (++into.releases > kMostOfInstances) return leave_out();
    add({ChangeKind::give_back, e.cause.code, {}, e.instance, {}});
  }
  void operator()(const TaskAssigned& e) {
    ++into.placements;
    const TaskRow* task = state.find(e.task);
    if (task == nullptr) return;  // its job is over by the same events
    ChangeKey key{ChangeKind::place, e.cause.code, {}, e.to, {}};
    if (task->at != kNoSlot) {
      key.from = state.instance(task->at).id;
      // The events may have started it in its new place already.
      const bool has_come = key.from == e.to && task->phase == TaskPhase::starting;
      if (has_come) {
        key.from = {};
      } else {
        key.change = key.from == e.to ? ChangeKind::restart : ChangeKind::move;
      }
    }
    add_task(key, *task);
  }
  void operator()(const TaskUnassigned& e) {
    const TaskRow* task = state.find(e.task);
    if (task == nullptr) return;
    ChangeKey key{ChangeKind::stop, e.cause.code, {}, {}, {}};
    if (task->at != kNoSlot) key.from = state.instance(task->at).id;
    add_task(key, *task);
  }
  void operator()(const StopIssued&) { ++into.moves; }
  void operator()(const JobResized& e) {
    ++into.resizes;
    if (into.changes.size() >= kMostChanges + kMostJobs) return leave_out();
    ChangeView& change = add({ChangeKind::resize, e.cause.code, e.job, {}, {}});
    change.width = e.width;
    if (const JobRow* job = state.find(e.job)) change.name = job->job.name;
  }
  template <class Other>
  void operator()(const Other&) {}

  void leave_out() { ++into.changes_left_out; }

  ChangeView& add(const ChangeKey& key) {
    ChangeView& change = into.changes.emplace_back();
    change.change = key.change;
    change.job = key.job;
    change.instance = key.instance;
    change.from = key.from;
    change.cause = name_of(key.cause);
    change.why = cell::cause_text(key.cause);
    if (const InstanceRow* row = state.find(key.instance)) {
      change.instance_type = state.catalog()[row->type].name;
      change.market = row->market;
    }
    return change;
  }
  /// Beyond the bound the tasks of a job are one change, which names no instance.
  void add_task(ChangeKey key, const TaskRow& task) {
    const JobRow& job = state.job(task.job);
    key.job = job.job.id;
    const std::uint32_t index = state.spec(task).array_index;
    ChangeView* change = find(key);
    if (change == nullptr && into.changes.size() >= kMostChanges) {
      key.instance = key.from = {};
      change = find(key);
    }
    if (change == nullptr) {
      if (into.changes.size() >= kMostChanges + kMostJobs) return leave_out();
      change = &add(key);
      change->name = job.job.name;
      change->task = index;
    }
    ++change->tasks;
    change->task = std::min(*change->task, index);
  }
  /// From the newest on: tasks that are alike follow one another.
  ChangeView* find(const ChangeKey& key) {
    const auto known = std::find_if(into.changes.rbegin(), into.changes.rend(),
                                    [&](const ChangeView& each) { return is_of(each, key); });
    return known == into.changes.rend() ? nullptr : &*known;
  }
};

void DecisionLog::watch(const std::vector<Event>& events, const ClusterState& state) {
  bool counts = open_ && of_round_;
  for (const Event& event : events) {
    if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
      DecisionView& open = kept_.emplace_back();
      open.at = event.at;
      open.round = round->round;
      open.choice = round->note.choice;
      for (const auto& [figure, value] : round->note.figures)
        open.figures.push_back({figure, value});
      open_ = counts = true;
    } else if (counts) {
      std::visit(Watch{kept_.back(), state}, event.body);
    }
  }
  if (counts && !of_round_) shrink();
}

/// Decisions that changed nothing are not kept.
void DecisionLog::shrink() {
  if (!std::exchange(open_, false)) return;
  const DecisionView& last = kept_.back();
  const std::uint32_t places = last.placements + last.moves + last.resizes;
  if (last.launches + last.releases + places == 0) kept_.pop_back();
  while (kept_.size() > kKept) kept_.pop_front();
}

DecisionsView DecisionLog::view(const DecisionsQuestion& wanted, const std::string& master) const {
  DecisionsView view;
  ByteCut cut;
  for (auto it = kept_.rbegin(); it != kept_.rend(); ++it) {
    if (wanted.most > 0 && view.decisions.size() >= wanted.most) break;
    if (!is_about(*it, wanted)) continue;
    DecisionView one = *it;
    one.master = master;
    if (!cut.takes(one)) break;
    view.decisions.push_back(std::move(one));
  }
  return view;
}

}  // namespace muster

#include "masters/view/decision_log.hpp"

#include <algorithm>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "masters/view/attempt_views.hpp"

namespace muster {
namespace {

/// Changes that differ only in how many tasks of the job they are of.
bool is_alike(const ChangeView& a, const ChangeView& b) {
  return a.change == b.change && a.job == b.job && a.instance == b.instance && a.from == b.from &&
         a.cause == b.cause && a.width == b.width;
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
    ++into.launches;
    ChangeView change = of_instance(ChangeKind::rent, e.instance, e.cause);
    change.usd_h = e.price.usd_h();
    add(std::move(change));
  }
  void operator()(const ReleaseDecided& e) {
    ++into.releases;
    add(of_instance(ChangeKind::give_back, e.instance, e.cause));
  }
  void operator()(const TaskAssigned& e) {
    ++into.placements;
    const TaskRow* task = state.find(e.task);
    ChangeKind kind = ChangeKind::place;
    InstanceId from{};
    if (task != nullptr && task->at != kNoSlot) {
      from = state.instance(task->at).id;
      // The events may have started it in its new place already.
      const bool has_come = from == e.to && task->phase == TaskPhase::starting;
      if (has_come) {
        from = {};
      } else {
        kind = from == e.to ? ChangeKind::restart : ChangeKind::move;
      }
    }
    ChangeView change = of_instance(kind, e.to, e.cause);
    change.from = from;
    add_task(std::move(change), task);
  }
  void operator()(const TaskUnassigned& e) {
    const TaskRow* task = state.find(e.task);
    ChangeView change = of_cause(ChangeKind::stop, e.cause);
    if (task != nullptr && task->at != kNoSlot) change.from = state.instance(task->at).id;
    add_task(std::move(change), task);
  }
  void operator()(const StopIssued&) { ++into.moves; }
  void operator()(const JobResized& e) {
    ++into.resizes;
    ChangeView change = of_cause(ChangeKind::resize, e.cause);
    change.job = e.job;
    change.width = e.width;
    if (const JobRow* job = state.find(e.job)) change.name = job->job.name;
    add(std::move(change));
  }
  template <class Other>
  void operator()(const Other&) {}

  static ChangeView of_cause(ChangeKind kind, const Cause& cause) {
    ChangeView change;
    change.change = kind;
    change.cause = name_of(cause.code);
    change.why = cell::cause_text(cause.code);
    return change;
  }
  ChangeView of_instance(ChangeKind kind, InstanceId id, const Cause& cause) const {
    ChangeView change = of_cause(kind, cause);
    change.instance = id;
    if (const InstanceRow* row = state.find(id)) {
      change.instance_type = state.catalog()[row->type].name;
      change.market = row->market;
    }
    return change;
  }
  void add_task(ChangeView change, const TaskRow* task) {
    if (task == nullptr) return;  // its job is over by the same events
    const JobRow& job = state.job(task->job);
    change.job = job.job.id;
    change.name = job.job.name;
    change.tasks = 1;
    change.task = state.spec(*task).array_index;
    add(std::move(change));
  }
  void add(ChangeView change) {
    const auto known = std::ranges::find_if(
        into.changes, [&](const ChangeView& each) { return is_alike(each, change); });
    if (known != into.changes.end() && change.job.valid() && change.tasks > 0) {
      known->tasks += change.tasks;
      known->task = std::min(*known->task, *change.task);
    } else if (into.changes.size() < kMostChanges) {
      into.changes.push_back(std::move(change));
    } else {
      ++into.changes_left_out;
    }
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

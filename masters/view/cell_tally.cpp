#include "masters/view/cell_tally.hpp"

#include <algorithm>

#include "model/live_ids.hpp"

// Counters for monitoring. They are not part of the master's state: a master that is started again
// counts from 0, which who reads counters is used to.

namespace muster {
namespace {

/// From what a greedy policy takes to the deadlines of those that search.
const std::vector<double> kDecisionBounds{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05,
                                          0.1,    0.5,    1,     5,     10,   60};
/// How an attempt ends of which nothing is heard any more.
constexpr const char* kWithInstance = "instance gone";
/// From a task that goes to a warm instance to one that waits for hours.
const std::vector<double> kStartBounds{1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14'400, 86'400};

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

void Histogram::add(double value) {
  const auto place = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  ++counts_[static_cast<std::size_t>(place)];
  sum_ += value;
}

HistogramView Histogram::view(std::string name) const {
  HistogramView view;
  view.name = std::move(name);
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    view.buckets.push_back({bounds_[i], counts_[i]});
  }
  view.beyond = counts_.back();
  view.sum = sum_;
  return view;
}

CellTally::CellTally() : decisions_(kDecisionBounds), starts_(kStartBounds) {
  // A series that appears with its first event hides that event from rate(): the usual ones begin
  // at 0.
  for (const JobOutcome outcome :
       {JobOutcome::completed, JobOutcome::failed, JobOutcome::refused, JobOutcome::cancelled,
        JobOutcome::replaced, JobOutcome::skipped, JobOutcome::expired}) {
    counts_[{CountKind::job_over, name_of(outcome)}] = 0;
  }
  for (const char* end : {"finished", "stopped", kWithInstance})
    counts_[{CountKind::attempt_end, end}] = 0;
  for (const Market market : {Market::on_demand, Market::spot}) {
    counts_[{CountKind::launch, name_of(market)}] = 0;
  }
  for (const CountKind kind :
       {CountKind::attempt_start, CountKind::move, CountKind::interruption}) {
    counts_[{kind, ""}] = 0;
  }
}

void CellTally::recall(const ClusterState& state) {
  for (const InstanceRow& instance : state.instances()) {
    for (const Slot slot : instance.occupants) {
      const TaskRow& row = state.task(slot);
      const bool started = row.phase == TaskPhase::running || row.phase == TaskPhase::stopping;
      issue(row.id, instance.id, started, row.attempt);
    }
  }
}

void CellTally::watch(const std::vector<Event>& events, const ClusterState& after) {
  for (const Event& event : events) count(event, after);
}

void CellTally::count(const Event& event, const ClusterState& after) {
  if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    count(CountKind::job_over, name_of(over->outcome));
    // Their numbers are the job's own, one behind the other.
    const auto first = unstarted_.lower_bound(task_id_of(over->job, 0));
    auto last = first;
    while (last != unstarted_.end() && job_of(*last) == over->job) ++last;
    unstarted_.erase(first, last);
  } else if (const auto* issued = std::get_if<StartIssued>(&event.body)) {
    issue(issued->task, issued->instance, false, issued->attempt);
  } else if (const auto* start = std::get_if<TaskStarted>(&event.body)) {
    count(CountKind::attempt_start, "");
    note_start(*start, event.at, after);
  } else if (const auto* finished = std::get_if<TaskFinished>(&event.body)) {
    count(CountKind::attempt_end, "finished");
    end(finished->task);
  } else if (const auto* left = std::get_if<TaskCheckpointed>(&event.body)) {
    count(CountKind::attempt_end, "stopped");
    end(left->task);
  } else if (const auto* failed = std::get_if<TaskFailed>(&event.body)) {
    end(failed->task);
    count(CountKind::attempt_end, name_of(failed->kind));
  } else if (const auto* stop = std::get_if<StopIssued>(&event.body)) {
    // As a job's history has it: a stop that neither ends the job nor lets the task start again
    // where it is. Where a drained instance's task goes is decided later.
    const TaskRow* row = after.find(stop->task);
    const bool leaves = row != nullptr && row->target != row->at;
    if (leaves && !after.job(row->job).terminal_outcome) count(CountKind::move, "");
  } else if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
    count(CountKind::launch, name_of(launch->market));
  } else if (const auto* refused = std::get_if<LaunchRefused>(&event.body)) {
    count(CountKind::launch_refused, name_of(refused->refusal.code));
  } else if (const auto* part = std::get_if<PlanPartRefused>(&event.body)) {
    count(CountKind::plan_refused, name_of(part->refusal.code));
  } else if (const auto* released = std::get_if<ReleaseDecided>(&event.body)) {
    // Told by a notice, as most are.
    if (released->cause.code != CauseCode::interrupted) return;
    if (noticed_.insert(released->instance).second) count(CountKind::interruption, "");
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    end_all_on(gone->instance);
    const bool was_told = noticed_.erase(gone->instance) > 0;
    if (gone->reason == CloudReason::reclaimed && !was_told) count(CountKind::interruption, "");
  }
}

void CellTally::issue(TaskId task, InstanceId on, bool started, Attempt attempt) {
  end(task);
  under_way_[task] = {on, attempt, started};
  on_instances_.emplace(on, task);
}

void CellTally::end(TaskId task) {
  const auto found = under_way_.find(task);
  if (found == under_way_.end()) return;
  const UnderWay& attempt = found->second;
  // Of a second one it is known whether the first had started: then the task is not among them.
  if (!attempt.started && attempt.attempt <= 1) unstarted_.insert(task);
  on_instances_.erase({attempt.on, task});
  under_way_.erase(found);
}

/// Of these nothing more is heard, and no event says so of each.
void CellTally::end_all_on(InstanceId instance) {
  const std::pair<InstanceId, TaskId> first{instance, TaskId{0}};
  for (auto next = on_instances_.lower_bound(first);
       next != on_instances_.end() && next->first == instance;
       next = on_instances_.lower_bound(first)) {
    const TaskId task = next->second;
    if (under_way_.at(task).started) count(CountKind::attempt_end, kWithInstance);
    end(task);
  }
}

/// An attempt of a task has started, and no earlier one had: the time since its job was accepted.
void CellTally::note_start(const TaskStarted& start, Instant at, const ClusterState& after) {
  const auto found = under_way_.find(start.task);
  if (found != under_way_.end()) found->second.started = true;
  if (unstarted_.erase(start.task) == 0 && start.attempt > 1) return;
  const TaskRow* row = after.find(start.task);
  if (row == nullptr) return;
  starts_.add(std::max(0.0, to_seconds(at - after.job(row->job).accepted_at)));
}

std::vector<CountView> CellTally::counts() const {
  std::vector<CountView> all;
  for (const auto& [what, count] : counts_)
    all.push_back({what.first, std::string(what.second), count});
  return all;
}

std::vector<HistogramView> CellTally::histograms() const {
  return {decisions_.view("decision"), starts_.view("start")};
}

void CellHistory::restore(const std::vector<HistorySample>& samples) {
  for (const HistorySample& sample : samples) {
    if (kept_.empty() || sample.at > kept_.back().at) add(sample);
  }
}

bool CellHistory::is_due(Instant now) const {
  return kept_.empty() || now - kept_.back().at >= kPeriod;
}

void CellHistory::add(const HistorySample& sample) {
  if (kept_.size() >= kKept) kept_.erase(kept_.begin());
  kept_.push_back(sample);
}

HistoryView CellHistory::since(Instant from) const {
  const auto begin = std::lower_bound(
      kept_.begin(), kept_.end(), from,
      [](const HistorySample& sample, Instant wanted) { return sample.at < wanted; });
  return {{begin, kept_.end()}};
}

}  // namespace muster

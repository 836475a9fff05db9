#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "masters/master.hpp"
#include "masters/view/cell_tally.hpp"
#include "masters/view/decision_log.hpp"
#include "model/views.hpp"
#include "storage/stores/history.hpp"

namespace muster {

/// Facts of an instance's worker besides the state.
struct WorkerStanding {
  bool connected = false;
  std::string limits;
  std::string isolation{};
};

/// Where an attempt is or was, and how it ended.
struct AttemptPlace {
  bool known = false;
  bool running = false;
  Attempt attempt = 0;
  InstanceId on;
  ProcessEnd end;
};

/// An answer, or what has to be read before there is one.
template <class View>
struct CellAnswer {
  View view{};
  /// Not empty: makes the view instead. Waits for the disk; may be called from any thread while
  /// the history lives, whatever has become of the master.
  std::function<View()> read{};
};

/// A master as those see it who look at the cluster.
struct CellView {
  const Master& master;
  const History* history = nullptr;  ///< null: jobs that are over are not shown
  std::map<InstanceId, WorkerStanding> workers{};
  std::string name;
  Instant now;
  std::string trouble{};
  double last_decision_ms = 0;
  const DecisionLog* decisions = nullptr;
  const CellTally* tally = nullptr;

  CellAnswer<JobsView> jobs(const JobsQuestion& wanted) const;
  CellAnswer<JobDetails> job(const JobQuestion& wanted) const;
  CellAnswer<FoundView> find(const FindQuestion& wanted) const;
  CellAnswer<RequestView> request(const RequestQuestion& wanted) const;
  CellAnswer<CostView> cost(const CostQuestion& wanted) const;
  /// Those of higher numbers, as many as go into one message.
  InstancesView instances(InstanceId after = {}) const;
  /// The life of an instance that it has, or of one of the last that are gone.
  InstanceLife life(const InstanceQuestion& wanted) const;
  /// The counts that the master keeps, without the series of what tasks report.
  CellFigures figures() const;
  /// Those with the series; O(values that tasks of unfinished jobs have reported).
  CellFigures figures_with_series() const;
  /// The present, as one of the samples of the past.
  HistorySample sample() const;
  /// The newest decisions that are asked for.
  DecisionsView decided(const DecisionsQuestion& wanted) const;
  /// Dry run of the policy with one job more.
  PlanView plan(Job job) const;
  /// Of a task of a job that is not over, where its attempt is; 0: the newest one.
  AttemptPlace place_of(TaskId task, Attempt attempt) const;

 private:
  InstanceView instance(const InstanceRow& row) const;
  CellAnswer<CostView> cost_by_job() const;
  /// The figures that the master counts along: without a look at the values that tasks report.
  CellFigures counted() const;
  CostView spent() const;
};

/// Likewise, of a job that is over; waits for the disk.
AttemptPlace place_of(TaskId task, Attempt attempt, const History& history);

/// Dry run of the job, in the words of a master of that name.
PlanView view_of(const DryRun& run, JobId job, const std::string& master);

}  // namespace muster

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>

#include "masters/tasks/task_orders.hpp"
#include "model/counterparts.hpp"

namespace muster {

/// How long the tasks of a completed job have run.
struct CompletedJob {
  JobId job;
  std::uint32_t tasks = 0;
  Duration together{};  ///< each from its first start to its end
};

/// How much is done at once for tasks that wait for their counterparts, so that others are heard
/// between.
struct CounterpartBudget {
  std::size_t events = 500;
  std::size_t looks = 200'000;  ///< at tasks; those of one job may be more
};

/// How the jobs of a master come to their ends: whether a failed task is tried again, what it takes
/// with it, and what is told when all of a job is over.
class JobEnds {
 public:
  /// `keep_history`: jobs that are over come out of commits.
  JobEnds(MasterRecorder& recorder, TaskOrders& tasks, const MasterSettings& settings,
          bool keep_history);

  /// A failure that the task is not tried again after.
  bool is_last_attempt(const Job& job, const TaskFailed& news) const;
  /// A task of the job has failed for good. The tasks of a gang end together; those of an array go
  /// on unless too many have failed.
  void lose_task(JobId id, Instant now);
  /// Puts the next of the job's capped tasks among those that wait, as many as it allows.
  void release_capped(JobId id, Instant now);
  /// Counterparts of the job's tasks are over: these wait as the others do, or have failed. Takes
  /// what it does from the budget; true: that was too little, and it is to be told again.
  bool hear_counterparts(const CounterpartsTold& told, CounterpartBudget& budget, Instant now);
  /// Takes everything off the job's tasks; the job is over, with that outcome, when they have
  /// stopped.
  void give_up(JobId id, JobOutcome outcome, Instant now);
  /// The tasks have left, or were interrupted. Where that has happened too often without progress,
  /// and one cannot run on demand, its job is refused. Does nothing with tasks that are not there.
  void end_if_stuck(std::span<const TaskId> left, Instant now);
  /// A task of the unfinished job has left or ended: the job may be over with it.
  void end_if_done(JobId id, Instant now);

  /// Jobs that were completed lately, the newest last and a thousand at most; and how many there
  /// were.
  const std::deque<CompletedJob>& completed() const { return completed_; }
  std::uint64_t completed_count() const { return completed_count_; }

 private:
  const ClusterState& state() const { return recorder_.facts().state; }
  bool is_looked_at(const TaskRow& task) const;
  void end_if_stuck(const TaskRow& task, Instant now);
  void finish(JobId id, JobOutcome outcome, Instant now);
  void release_met(const JobRow& job, Instant now);
  void put_met(const JobRow& job, std::uint32_t at);
  JobHistory history_of(const JobFinished& over, Instant now) const;
  void note_completed(const JobRow& job);

  MasterRecorder& recorder_;
  TaskOrders& tasks_;
  std::uint32_t max_attempts_;
  std::uint32_t max_losses_;
  std::uint32_t max_interruptions_;
  bool keep_history_;
  /// Positions of tasks that only the number of those that may run keeps, by the job, as far as
  /// that is known: of jobs some of whose tasks await their counterparts.
  std::map<JobId, std::set<std::uint32_t>> met_;
  std::deque<CompletedJob> completed_;
  std::uint64_t completed_count_ = 0;
};

}  // namespace muster

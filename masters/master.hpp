#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "masters/effects.hpp"
#include "masters/plan_check.hpp"
#include "model/cluster_state.hpp"
#include "model/ledger.hpp"
#include "schedulers/policy.hpp"
#include "storage/journal.hpp"

namespace muster {

/// What a master is made of.
struct MasterParts {
  const Catalog* catalog = nullptr;
  std::unique_ptr<Policy> policy;
  Journal* journal = nullptr;
  MasterCaps caps;
  std::uint32_t max_attempts = 5;  ///< failed attempts of a task before its job is given up
  Duration refusal_rest{};         ///< how long what the cloud refused is not asked for again
  std::uint64_t seed = 1;
};

/// What a master says to a job that it is offered.
enum class AcceptResult { accepted, known_already, invalid };

/// Owns a cell: its jobs, its instances, and what is decided about them. Everything that happens
/// goes in as a call with the time, becomes events, and comes out as effects; there is no other way
/// in or out. News of the past (of an old attempt, of an instance that is gone) change nothing.
class Master {
 public:
  explicit Master(MasterParts parts);

  AcceptResult accept(Job job, Instant now);
  /// Ends the job as soon as its tasks have stopped.
  void cancel(JobId id, Instant now);

  void instance_up(InstanceId id, Instant now);
  void instance_ready(InstanceId id, Instant now);
  void instance_refused(InstanceId id, Instant now);
  void instance_gone(InstanceId id, Instant now);

  void task_started(const TaskStarted& news, Instant now);
  void task_left(const TaskLeft& news, Instant now);
  void task_finished(const TaskFinished& news, Instant now);
  void task_failed(const TaskFailed& news, Instant now);

  /// Shows the samples to the policy, asks it, re-checks its plan and sets about what stands.
  void round(std::span<const ThroughputSample> samples, Instant now);

  /// There is a job or an instance to think about.
  bool busy() const { return !state_.jobs().empty() || !state_.instances().empty(); }
  Cadence cadence() const { return policy_->cadence(); }

  /// Makes the events since the last call durable, then hands out the effects they have.
  std::vector<Effect> commit();

  const ClusterState& state() const { return state_; }
  const Ledger& ledger() const { return ledger_; }

 private:
  struct ThroughputSum {
    double sum = 0;
    std::uint64_t count = 0;
  };

  ClusterView view(Instant now) const { return {state_, *catalog_, now}; }
  void record(EventBody body, Instant now);
  void apply_plan(const Plan& plan, Instant now);
  PlanLimits limits(Instant now);
  std::vector<InstanceId> order_launches(const Plan& plan, const CheckedPlan& checked, Instant now);
  void apply_places(const Plan& plan, const CheckedPlan& checked, Instant now);
  void release_if_unused(InstanceId id, Instant now);
  void place(const Place& place, InstanceId to, Instant now);
  void stop_if_running(TaskId id, Instant now);
  void restart_peers(const JobRow& job, Instant now);
  void refuse(TaskId id, const Refusal& refusal, Instant now);
  void take_refusal(const Refuse& part, Instant now);
  void count_throughput(std::span<const ThroughputSample> samples);
  void let_go_of_peers(const JobRow& job, const Refusal& reason, Instant now);
  void end_job_if_done(JobId id, Instant now);
  void finish_job(JobId id, JobOutcome outcome, Instant now);
  void give_up(JobId id, JobOutcome outcome, Instant now);
  void reconcile(Instant now);
  void reconcile_at(InstanceId id, Instant now);
  void reconcile_job(JobId id, Instant now);
  void try_start(Slot slot, Instant now);
  bool lacks_place(const JobRow& job) const;
  std::optional<Refusal> gang_hindrance(const JobRow& job) const;
  std::optional<Refusal> hindrance(const TaskRow& task) const;
  void end_empty_instances(Instant now);

  const Catalog* catalog_;
  std::unique_ptr<Policy> policy_;
  Journal* journal_;
  MasterCaps caps_;
  std::uint32_t max_attempts_;
  Duration refusal_rest_;
  Rng rng_;
  ClusterState state_;
  Ledger ledger_;
  std::map<std::pair<TypeId, Market>, Instant> resting_until_;
  std::vector<Event> uncommitted_;
  std::vector<Effect> effects_;
  std::vector<InstanceId> releasing_;  ///< released, waiting for their last task to leave
  std::unordered_map<TaskId, std::uint32_t> failures_;
  std::unordered_map<JobId, JobOutcome> given_up_;  ///< over as soon as no task runs any more
  std::unordered_map<JobId, ThroughputSum> throughput_;
  std::uint64_t next_instance_ = 0;
  std::uint64_t rounds_ = 0;
};

}  // namespace muster

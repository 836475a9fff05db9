#pragma once

#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "masters/claims/claim_orders.hpp"
#include "masters/claims/evictions.hpp"
#include "masters/instances/offering_news.hpp"
#include "masters/master_load.hpp"
#include "masters/plan/plan_application.hpp"
#include "masters/plan/planner.hpp"
#include "masters/tasks/attempt_news.hpp"

namespace muster {

/// Answer of a master to a job that it is offered.
enum class SubmitResult { accepted, known_already, invalid };

/// News of the cloud about an instance that is gone, besides the end of its bill.
struct GoneNews {
  std::optional<Instant> billed_from{};  ///< counts when nothing was heard of its coming up
  CloudReason reason = CloudReason::not_said;
};

/// Answer of a master to a wish to hold a job or to release it.
enum class HoldResult { done, unknown, stopping };

/// Owns a cell: its jobs, its instances, and what is decided about them. Everything that happens
/// goes in as a call with the time, becomes events, and comes out as effects; there is no other way
/// in or out. News of the past (of an old attempt, of an instance that is gone) change nothing.
/// Each of its parts answers for one thing: see masters/README.md.
class Master {
 public:
  Master(const MasterSettings& settings, MasterDependencies parts);
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  /// Restores the memory of a master that died: its last snapshot, if any, and the events after it.
  /// Before anything else; remind() then repeats what may not have left it. Answers what could not
  /// be taken back, as a sentence; empty when all was.
  std::string restore(std::optional<MasterSnapshot> snapshot, std::span<const Event> tail);
  /// While its planner is with it.
  MasterSnapshot snapshot() const { return planner_->snapshot(); }

  /// A job is accepted once: its number is known for good, however long it has been over.
  SubmitResult submit(Job job, Instant now);
  /// Ends the job as soon as its tasks have stopped, with that outcome.
  void cancel(JobId id, Instant now, JobOutcome as = JobOutcome::cancelled);
  /// Keeps the job's tasks that have no place from getting one, or lets them again; not of a job
  /// that will not be completed.
  HoldResult hold(JobId id, bool held, Instant now);

  void instance_up(InstanceId id, std::optional<Instant> billed_from, Instant now);
  void instance_ready(InstanceId id, Instant now);
  void instance_refused(InstanceId id, Instant now, CloudReason reason = CloudReason::not_said);
  void instance_gone(InstanceId id, std::optional<Instant> billed_until, Instant now,
                     const GoneNews& news = {});
  /// See record_offerings().
  bool on_offerings(std::span<const OfferingChange> changes, Instant now) {
    return record_offerings(recorder_, changes, now);
  }
  /// See Evictions.
  bool evict(InstanceId id, CauseCode why, Instant now) { return evictions_.evict(id, why, now); }
  bool abandon(InstanceId id, CauseCode why, Instant now) {
    return evictions_.abandon(id, why, now);
  }

  /// See AttemptNews.
  void task_started(const TaskStarted& news, Instant now) { news_.started(news, now); }
  void task_checkpointed(const TaskCheckpointed& news, Instant now) {
    news_.checkpointed(news, now);
  }
  void task_finished(const TaskFinished& news, Instant now) { news_.finished(news, now); }
  void task_failed(const TaskFailed& news, Instant now) { news_.failed(news, now); }
  AttemptNews& news() { return news_; }
  Services& services() { return services_; }
  /// The outcome of the attempt has taken effect: it is on record with the next commit.
  void acknowledge(TaskId task, Attempt attempt, InstanceId on) {
    recorder_.effect(AcknowledgeAttempt{task, attempt, on});
  }

  /// A whole round while its planner is with it: takes the samples in, asks the policy, re-checks
  /// its plan and sets about what stands.
  void round(std::span<const ThroughputSample> samples, Instant now);
  /// The first part of a round: takes in what was measured, and says what the planner is to be
  /// asked; nothing when there is nothing to decide. Samples are ordered by task; those of tasks
  /// that are not known are left out. Progress is what of_elastic_jobs() gave.
  std::optional<RoundWish> begin_round(std::span<const ThroughputSample> samples, Instant now,
                                       std::span<const JobProgress> progress = {});
  /// The progress of elastic jobs, by task, of what was heard: their first tasks speak for them.
  std::vector<JobProgress> of_elastic_jobs(std::vector<JobProgress> heard) const;
  /// Takes in what elastic jobs and tasks tell of themselves between rounds; whether any is new.
  bool note_measured(Measured heard, Instant now);
  /// The second: the planner's answer goes on record. One to each begin_round().
  void take_plan(PlannedRound&& planned, Instant now);
  /// The third, until it says false: holds the next slice of the plan against the present state and
  /// sets about what stands.
  bool apply_slice(Instant now);
  std::size_t slices_left() const { return application_.slices_left(); }

  /// The planner, while it is with the master, and so shares its memory.
  Planner& planner() { return *planner_; }
  /// From now on the planner goes its own way, and is to be told of all events that commit() gives.
  std::unique_ptr<Planner> send_planner_off();
  /// Inputs of a decision now besides the events, and the bounds of its plan.
  RoundWish wish(Instant now) const;
  PlanLimits limits(Instant now) const { return rules_.limits(now); }
  /// The policy's decision with one job more, on a copy; while its planner is with it.
  DryRun dry_run(Job job, Instant now) const;

  /// The last round changed nothing, and unless something happens or throughputs change no later
  /// one will: regular rounds need not be held. They count as if they had been.
  bool calm() const;
  /// It is calm, and these are the throughputs of the last round.
  bool would_repeat(std::span<const ThroughputSample> samples,
                    std::span<const JobProgress> progress = {}) const;

  /// See SpendGuard.
  void set_cloud_ahead(Duration ahead) { guard_.set_cloud_ahead(ahead); }
  void know_cloud_clock(bool known) { guard_.know_cloud_clock(known); }
  Money spent_today(Instant now) const { return guard_.spent_today(now); }
  /// Takes everything off the instances when the day's money is nearly spent, and has them ended
  /// with whatever is on them when there is just enough left for that.
  void keep_caps(Instant now) { evictions_.keep_caps(now); }
  /// Repeats the orders to end at once that the cap has called for and that are not done.
  void end_at_once() { guard_.repeat_ends(); }
  /// When keep_caps has to look again if nothing else is rented till then; nothing when the day's
  /// cap is out of reach.
  std::optional<Duration> until_cap(Instant now) const { return guard_.until_due(now); }
  /// See FleetKeeper. True: more is lacking of it than is ordered at once.
  bool keep_fleet(Instant now) { return fleet_.keep(now); }
  bool fleet_is_short() const { return fleet_.is_short(); }

  /// See CloudOrders. Nothing is rented between ask_numbers(), which comes after restore(), and
  /// know_instances().
  void ask_numbers() { cloud_.ask_numbers(); }
  bool know_instances(const std::vector<InstanceId>& newest) {
    return cloud_.know_instances(newest);
  }
  void remind() { cloud_.remind(); }
  bool awaits_cloud() const { return !cloud_.unanswered().empty(); }
  void ask_after(InstanceId id) { cloud_.ask_after(id); }
  void ask_after_all() { cloud_.ask_after_all(); }

  /// There is a job or an instance to think about.
  bool busy() const { return !state().jobs().empty() || !state().instances().empty(); }
  Cadence cadence() const { return cadence_; }

  /// Work since the last call.
  Commit commit() { return recorder_.commit(); }
  /// See MasterRecorder.
  void hand_over(std::size_t events, MasterRecorder::Part take) {
    recorder_.hand_over(events, std::move(take));
  }

  const MasterMemory& memory() const { return recorder_.memory(); }
  const MasterFacts& facts() const { return recorder_.facts(); }
  const ClusterState& state() const { return facts().state; }
  const Ledger& ledger() const { return facts().ledger; }
  const Catalog& catalog() const { return *catalog_; }
  const MasterSettings& settings() const { return settings_; }
  const std::string& name() const { return name_; }
  /// How much of what it has or may have is taken: see docs/routing.md.
  double load() const { return master_load(facts(), settings_, memory().fixed_fleet()); }
  /// See JobEnds.
  JobEnds& ends() { return ends_; }

 private:
  void refuse_for_good(JobId id, const Refusal& never, Instant now);

  const Catalog* catalog_;
  MasterSettings settings_;
  std::string name_;
  Cadence cadence_;
  // Each part is made of those above it. Those that listen hear of an event in this order.
  MasterRecorder recorder_;
  CloudOrders cloud_;
  SpendGuard guard_;
  InstanceReleases releases_;
  TaskOrders tasks_;
  Reconciler reconciler_;
  JobEnds ends_;
  Services services_;
  PlanRules rules_;
  FleetKeeper fleet_;
  ClaimOrders claims_;
  Evictions evictions_;
  PlanApplication application_;
  AttemptNews news_;
  std::unique_ptr<Planner> planner_;  ///< null: it goes its own way
};

}  // namespace muster

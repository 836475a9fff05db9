#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "masters/effects.hpp"
#include "masters/master_dependencies.hpp"
#include "masters/master_memory.hpp"
#include "masters/plan_check.hpp"
#include "masters/planner.hpp"
#include "masters/start_candidates.hpp"
#include "model/cluster_state.hpp"
#include "model/history.hpp"

namespace muster {

/// What a master says to a job that it is offered.
enum class SubmitResult { accepted, known_already, invalid };

/// How long the tasks of a completed job have run.
struct CompletedJob {
  JobId job;
  std::uint32_t tasks = 0;
  Duration together{};  ///< each from its first start to its end
};

/// What the cloud says of an instance that is gone besides when its bill ended.
struct GoneNews {
  std::optional<Instant> billed_from{};  ///< counts when nothing was heard of its coming up
  CloudReason reason = CloudReason::not_said;
};

/// What a master says to a wish to hold a job or to release it.
enum class HoldResult { done, unknown, stopping };

/// An attempt as a worker knows it.
using KnownAttempt = std::pair<TaskId, Attempt>;

/// Owns a cell: its jobs, its instances, and what is decided about them. Everything that happens
/// goes in as a call with the time, becomes events, and comes out as effects; there is no other way
/// in or out. News of the past (of an old attempt, of an instance that is gone) change nothing.
class Master {
 public:
  Master(const MasterSettings& settings, MasterDependencies parts);
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  /// What a master that died knew: its last snapshot, if any, and the events after it. Before
  /// anything else; remind() then repeats what may not have left it.
  /// Answers what could not be taken back, as a sentence; empty when all was.
  std::string restore(std::optional<MasterSnapshot> snapshot, std::span<const Event> tail);
  /// While its planner is with it.
  MasterSnapshot snapshot() const;

  /// A job is accepted once: its number is known for good, however long it has been over.
  SubmitResult submit(Job job, Instant now);
  bool was_accepted(JobId id) const { return known_.accepted.contains(id.value); }
  /// All jobs that ever were accepted.
  const NumberSet& accepted() const { return known_.accepted; }
  /// Ends the job as soon as its tasks have stopped.
  void cancel(JobId id, Instant now);
  /// Keeps the job's tasks that have no place from getting one, or lets them again; not of a job
  /// that will not be completed.
  HoldResult hold(JobId id, bool held, Instant now);

  void instance_up(InstanceId id, std::optional<Instant> billed_from, Instant now);
  void instance_ready(InstanceId id, Instant now);
  void instance_refused(InstanceId id, Instant now, CloudReason reason = CloudReason::not_said);
  void instance_gone(InstanceId id, std::optional<Instant> billed_until, Instant now,
                     const GoneNews& news = {});
  /// Between what is known of offerings and the changes there is one that is not among them.
  bool misses_change(std::span<const OfferingChange> changes) const;
  /// Takes in the changes that are news. True: some price changed, or something can be had again.
  bool on_offerings(std::span<const OfferingChange> changes, Instant now);
  /// The instance's worker has said which attempts it knows: what it should know and does not is
  /// told again or has failed, and the other way round.
  void compare_attempts(InstanceId id, const std::set<KnownAttempt>& known, Instant now);
  /// Takes every task off the instance and gives it back. False when it is not there.
  bool evict(InstanceId id, CauseCode why, Instant now);
  /// The same, and has it ended with whatever is on it. Its tasks wait again when it is gone.
  bool abandon(InstanceId id, CauseCode why, Instant now);

  void task_started(const TaskStarted& news, Instant now);
  void task_checkpointed(const TaskCheckpointed& news, Instant now);
  void task_finished(const TaskFinished& news, Instant now);
  /// Whether the task is tried again is for the master to say.
  void task_failed(TaskFailed news, Instant now);
  /// Whatever the outcome of the attempt changed: it is on record with the next commit.
  void acknowledge(TaskId task, Attempt attempt, InstanceId on);

  /// A whole round while its planner is with it: takes the samples in, asks the policy, re-checks
  /// its plan and sets about what stands.
  void round(std::span<const ThroughputSample> samples, Instant now);
  /// The first part of a round: takes the samples in, and says what the planner is to be asked;
  /// nothing when there is nothing to decide. Samples are ordered by task; those of tasks that are
  /// not known are left out.
  std::optional<RoundWish> begin_round(std::span<const ThroughputSample> samples, Instant now);
  /// The second: the planner's answer goes on record. One to each begin_round().
  void take_plan(PlannedRound&& planned, Instant now);
  /// The third, until it says false: holds the next slice of the plan against the present state and
  /// sets about what stands.
  bool apply_slice(Instant now);
  /// Slices that are left.
  std::size_t slices_left() const { return slices_.size(); }

  /// The planner, while it is with the master, and so shares its memory.
  Planner& planner() { return *planner_; }
  /// From now on the planner goes its own way, and is to be told of all events that commit() gives.
  std::unique_ptr<Planner> send_planner_off();
  /// What a planner has to be told for a decision now, and what its plan is held against.
  RoundWish wish(Instant now) const;
  PlanLimits limits(Instant now) const;
  /// Instances will be numbered from there on.
  std::uint64_t next_instance() const { return known_.next_instance; }
  /// How many events there were since it was made.
  std::uint64_t events() const { return known_.events; }

  /// The last round changed nothing, and unless something happens or throughputs change no later
  /// one will: regular rounds need not be held. They count as if they had been.
  bool calm() const { return known_.calm && state_.pending().empty() && !fleet_is_short_; }
  /// It is calm, and these are the throughputs of the last round.
  bool would_repeat(std::span<const ThroughputSample> samples) const;
  /// By how much the cloud's clock, which bills and says which day it is, is ahead of `now`.
  void set_cloud_ahead(Duration ahead) { cloud_ahead_ = ahead; }
  /// While what the cloud's clock shows is not known nothing is rented where a day's money is
  /// capped: it could be of a day whose money is spent.
  void know_cloud_clock(bool known) { knows_cloud_clock_ = known; }
  /// Its store may not know which instance numbers were given out: nothing is rented before
  /// know_instances(). After restore().
  void ask_numbers() { asks_numbers_ = true; }
  /// Numbers on from above those that the cloud has on record. True: it has waited for that to rent
  /// anything.
  bool know_instances(const std::vector<InstanceId>& newest);
  /// Takes everything off the instances when the day's money is nearly spent, and has them ended
  /// with whatever is on them when there is just enough left for that.
  void keep_caps(Instant now);
  /// Repeats the orders to end at once that the cap has called for and that are not done.
  void end_at_once();
  /// When keep_caps has to look again if nothing else is rented till then; nothing when the day's
  /// cap is out of reach.
  std::optional<Duration> until_cap(Instant now) const;
  /// Orders what the fixed fleet lacks, within the caps. An instance that a user drained is not
  /// replaced before the master's next start.
  void keep_fleet(Instant now);
  /// Repeats every order to the cloud that has not been answered.
  void remind();
  bool awaits_cloud() const { return !unanswered_.empty(); }
  /// Asks the cloud after an instance, and after all instances: it says what has become of them.
  void ask_after(InstanceId id);
  void ask_after_all();

  /// There is a job or an instance to think about.
  bool busy() const { return !state_.jobs().empty() || !state_.instances().empty(); }
  Cadence cadence() const { return cadence_; }

  /// What has happened since the last call.
  Commit commit() { return std::exchange(commit_, {}); }

  const MasterMemory& memory() const { return memory_; }
  const ClusterState& state() const { return state_; }
  const Ledger& ledger() const { return ledger_; }
  const Catalog& catalog() const { return *catalog_; }
  const MasterSettings& settings() const { return settings_; }
  const std::string& name() const { return name_; }
  std::uint64_t rounds() const { return known_.rounds; }
  /// What has become of a task of an unfinished job so far; null when nothing has.
  const TaskHistory* task_history(TaskId id) const;
  /// What has failed of an unfinished job; null when nothing has.
  const JobFailures* failures_of(JobId id) const;
  /// Since when the instance is billed; nothing when that is not known here.
  std::optional<Instant> up_since(InstanceId id) const;
  /// What the cloud's present day has cost so far.
  Money spent_today(Instant now) const { return known_.spend.until(now + cloud_ahead_, state_); }
  /// Time of the last event.
  Instant newest() const { return known_.newest; }
  /// How much of what it has or may have is taken: see docs/routing.md. `queue_capacity` tasks that
  /// wait are a load of 1.
  double load(std::uint64_t queue_capacity) const;
  /// Parts of jobs that were given up lately, a thousand at most.
  const std::deque<JobId>& terminal_parts() const { return known_.terminal_parts; }
  /// Parts that are over, of jobs of which only so many tasks may fail, where some have: the last
  /// ones, a thousand at most.
  const std::deque<FailedPart>& failed_parts() const { return known_.failed_parts; }
  /// Unfinished parts of such jobs, and how many of the tasks of those have failed of which any
  /// have.
  const std::set<JobId>& counted_parts() const { return known_.counted; }
  std::vector<FailedPart> failing_parts() const;
  /// What was completed lately, the newest last and a thousand at most; and how many there were.
  const std::deque<CompletedJob>& completed() const { return completed_; }
  std::uint64_t completed_count() const { return completed_count_; }

  /// What the policy would decide with one job more, on a copy of everything; while its planner is
  /// with it.
  DryRun dry_run(Job job, Instant now) const;

 private:
  struct Tracker;

  void record(EventBody body, Instant now);
  void absorb(const Event& event);
  JobHistory history_of(const JobFinished& over, Instant now) const;
  void apply_plan(const Plan& plan, Instant now);
  bool may_rent() const;
  std::vector<InstanceId> order_launches(const Plan& plan, const CheckedPlan& checked, Instant now);
  void apply_places(const Plan& plan, const CheckedPlan& checked, Instant now);
  void apply_resizes(const Plan& plan, const CheckedPlan& checked, Instant now);
  void release(InstanceId id, const Cause& cause, Instant now);
  void release_if_unused(InstanceId id, Instant now);
  void shrink_fleet(const InstanceRow& drained);
  void place(const Place& place, InstanceId to, Instant now);
  void stop_if_running(TaskId id, Instant now);
  void restart_peers(const JobRow& job, Instant now);
  bool knows(TaskId id, const Refusal& refusal) const;
  void refuse(TaskId id, const Refusal& refusal, Instant now);
  const Refusal& reason_for(const TaskRow& task, const Refusal& refusal);
  void apply_refusal(const Refuse& part, Instant now);
  void measure(std::span<const ThroughputSample> samples, Instant now);
  void end_calm(Instant now, std::uint64_t held);
  void unassign_gang(const JobRow& job, const Refusal& reason, Instant now);
  void release_held(JobId id, Instant now);
  bool is_last_attempt(const Job& job, const TaskFailed& news) const;
  void lose_task(JobId id, Instant now);
  void end_job_if_done(JobId id, Instant now);
  void finish_job(JobId id, JobOutcome outcome, Instant now);
  void note_completed(const JobRow& job);
  void give_up(JobId id, JobOutcome outcome, Instant now);
  void reconcile(Instant now);
  void reconcile_at(InstanceId id, Instant now);
  void reconcile_task(TaskId id, Instant now);
  void try_start(Slot slot, Instant now);
  bool gang_incomplete(const JobRow& job) const;
  std::optional<Refusal> gang_start_blocker(const JobRow& job) const;
  std::optional<Refusal> start_blocker(const TaskRow& task) const;
  void end_empty_instances(Instant now);
  Duration end_time() const;
  Duration affordable_time() const;
  double spent_today_usd(Instant now) const;
  Money spent_at_most(Instant now) const;
  std::optional<Duration> until_spent(Duration margin, Instant now) const;

  const Catalog* catalog_;
  MasterSettings settings_;
  std::string name_;
  bool keep_history_;
  Fleet fleet_;
  bool fleet_is_short_ = false;
  MasterMemory memory_;
  const MasterFacts& known_ = memory_.facts();
  const ClusterState& state_ = known_.state;
  const Ledger& ledger_ = known_.ledger;
  Cadence cadence_;
  std::unique_ptr<Planner> planner_;  ///< null: it goes its own way
  std::deque<Plan> slices_;           ///< of the present round's plan, still to be carried out
  std::set<InstanceId> unanswered_;   ///< of which the cloud has not said that it did as told
  std::optional<JobId> turn_;         ///< whose it is in the present round
  std::vector<JobId> backed_off_;     ///< gangs for which nothing is rented in the present round
  /// Gangs that were refused room on the fixed fleet since it last changed, or since the last round
  /// began, and whether they are larger than all of it.
  std::map<JobId, std::optional<Refusal>> over_fleet_;
  StartCandidates candidates_;
  /// Released, waiting for their last task to leave: each with its number in the order of release.
  std::map<InstanceId, std::uint64_t> releasing_;
  std::uint64_t releases_ = 0;
  std::vector<InstanceId> emptied_;  ///< of these, those that may be empty since the last look
  std::uint64_t first_instance_;
  bool asks_numbers_ = false;
  Duration cloud_ahead_{};
  bool knows_cloud_clock_ = true;
  std::set<InstanceId> ended_at_once_;  ///< because of the day's cap; not remembered over a crash
  std::deque<CompletedJob> completed_;
  std::uint64_t completed_count_ = 0;
  Commit commit_;
};

}  // namespace muster

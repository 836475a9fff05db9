#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "masters/claims/claims.hpp"
#include "masters/instances/day_losses.hpp"
#include "masters/instances/instance_lives.hpp"
#include "masters/master_dependencies.hpp"
#include "masters/metric_tally.hpp"
#include "masters/plan/plan_check.hpp"
#include "masters/tasks/gang_waits.hpp"
#include "model/cluster_state.hpp"
#include "model/history.hpp"
#include "model/job_cursor.hpp"
#include "model/ledger.hpp"
#include "model/master_snapshot.hpp"

namespace muster {

/// Failures of an unfinished job's tasks.
struct JobFailures {
  std::uint32_t attempts = 0;
  std::set<TaskId> open{};  ///< tasks that have failed and not finished since
  /// Those that have failed for good, by their array indices.
  std::map<std::uint32_t, TaskId> for_good{};
};

/// Facts of a master: the fold over its events.
struct MasterFacts {
  ClusterState state;
  Ledger ledger;
  GangWaits gangs;
  Claims claims;
  InstanceLives lives;
  std::map<TaskId, TaskHistory> tasks{};  ///< of unfinished jobs
  std::map<JobId, JobFailures> failures{};
  std::map<JobId, Usage> used{};  ///< by the attempts of unfinished jobs that have ended
  std::map<JobId, ThroughputSum> throughput{};
  OfferingRests rests{};
  std::uint64_t next_instance = 0;
  std::uint64_t rounds = 0;
  std::optional<Calm> calm{};
  Measured measured{};      ///< for the round that is about to be decided
  std::uint64_t quiet = 0;  ///< regular rounds that were not held since the last one
  Instant newest{};         ///< time of the last event
  DaySpend spend{};
  DayLosses losses{};
  std::int64_t capped_day = -1;  ///< on which the day's cap was last reached
  double capped_usd = 0;         ///< that cap; 0: not known
  /// Parts of jobs that were given up lately, a thousand at most.
  std::deque<JobId> terminal_parts{};
  /// Parts that are over, of jobs whose number of failures is bounded and that have failures: the
  /// last ones, a thousand at most.
  std::deque<FailedPart> failed_parts{};
  /// Unfinished jobs in the order of lists, so that a page of them costs what it looks at.
  std::set<JobPlace, std::greater<>> listed{};
  std::set<JobId> services{};  ///< unfinished jobs that are services
  std::set<JobId> awaiting{};  ///< unfinished jobs of which tasks wait for their counterparts
  std::set<JobId> counted{};   ///< unfinished parts of jobs whose number of failures is bounded
  std::set<JobId> failing{};   ///< of these, those of which some have
  MetricTally metrics{};       ///< of what tasks report of themselves
  NumberSet accepted{};        ///< all jobs that ever were: sites may repeat a hand-off at any time
  NumberSet completed{};  ///< of these, the whole jobs that have: others may wait for them for long
  NumberSet failed{};     ///< likewise, those that have failed, were refused or have expired
  std::uint64_t events = 0;  ///< how many were absorbed, since this memory was made
  /// The number of the last of these that may change what a policy decides.
  std::uint64_t last_change = 0;

  /// History of a task of an unfinished job so far; null when it has no history.
  const TaskHistory* task_history(TaskId id) const;
  /// Failures of an unfinished job; null without failures.
  const JobFailures* failures_of(JobId id) const;
  /// By all attempts of an unfinished job that have ended.
  Usage used_by(JobId id) const;
  /// The unfinished parts of jobs whose number of failures is bounded, where tasks have failed.
  std::vector<FailedPart> failing_parts() const;
  /// The job beside which no other starts in the round: a gang in its turn, or one for which room
  /// is kept that it did not take.
  std::optional<JobId> turn(std::uint64_t round, Instant now) const;
  /// Since when the instance is billed; nothing when that is not known here.
  std::optional<Instant> up_since(InstanceId id) const;
};

/// All that a master knows of what has happened: a fold over its events, and what a snapshot holds.
/// Memories that were shown equal events are equal, so that a planner with a memory of its own
/// knows as much as its master.
class MasterMemory {
 public:
  MasterMemory(const MasterSettings& settings, const MasterDependencies& parts);

  void absorb(const Event& event);
  const MasterFacts& facts() const { return facts_; }
  /// The instances are given: the master rents no instance, and gives no instance back for being
  /// unused.
  bool fixed_fleet() const { return fixed_fleet_; }
  /// There is a fleet beyond which more is rented.
  bool owns_fleet() const { return owns_fleet_; }
  /// The instance is of such a fleet: it is not given back, and no cap counts it.
  bool is_owned(const InstanceRow& row) const { return owns_fleet_ && row.owned; }

  /// The event may change what the policy decides, so that it is shown to the policy: any but a
  /// replica's, and one of metrics alone where the policy does not want them.
  bool ends_calm(const EventBody& body) const;

  /// All but what the policy remembers.
  MasterSnapshot snapshot() const;
  /// Before anything is absorbed; the policy's words in it are left alone.
  void restore(MasterSnapshot&& snapshot);

  /// The calm is over: the next event would say so too.
  Calm end_calm() { return *std::exchange(facts_.calm, std::nullopt); }
  /// Instances before this one were known to others.
  void skip_instances(std::uint64_t below);
  /// Offerings that the cloud is not asked for now; `rents`: false: all of them.
  UnavailableOfferings unavailable_offerings(Instant now, bool rents) const;

 private:
  struct Fold;

  Duration first_backoff(const OfferingKey& key) const;
  void rest(const OfferingKey& key, RefusalCode code, Instant now);
  void ease_rest(const OfferingKey& key, Instant now);
  void end_rests_of_room();
  bool rests_at(const OfferingKey& key, Instant now) const;
  void count_failures();
  void count_usage();
  void count_parts();
  void note_over(const JobRow& job);

  const Catalog* catalog_;
  MasterSettings settings_;
  bool fixed_fleet_, owns_fleet_, wants_metrics_;
  MasterFacts facts_;
};

}  // namespace muster

#pragma once

#include <cstdint>

#include "model/time.hpp"

namespace muster {

/// Hard limits that no plan gets over.
struct MasterCaps {
  std::uint32_t max_instances = 0;  ///< 0: no cap
  double max_usd_h = 0;             ///< 0: no cap
  double max_usd_day = 0;           ///< from midnight to midnight (UTC); 0: no cap
  /// Time before the day's cap would be reached at which tasks are told to save their checkpoints.
  Duration spend_margin{std::chrono::minutes{5}};
  /// How long the cloud takes at most to end an instance, besides its type's own time.
  Duration end_time{std::chrono::seconds{30}};

  bool any() const { return max_instances > 0 || max_usd_h > 0 || max_usd_day > 0; }
};

/// How gangs that wait for room which caps or the cloud did not have get it.
struct GangRules {
  /// From a gang's first refusal to its turn, in which no other job starts; 0: there are no turns.
  Duration patience{std::chrono::hours{1}};
  Duration turn{std::chrono::minutes{30}};   ///< the first turn; each next one twice as long
  Duration longest{std::chrono::hours{12}};  ///< no wait, rest or turn grows longer
};

/// A master's work by the clock, besides its policy's rounds.
struct MasterWatch {
  Duration remind_every{
      std::chrono::seconds{2}};  ///< from one repetition of an order to the cloud to the next
  /// The cloud is asked after all instances at pauses that double up to this.
  Duration ask_pause{std::chrono::hours{6}};
  Duration worker_lost_after{std::chrono::minutes{10}};  ///< silence that ends an instance
  /// Silence of a worker after which others stand in for its replicas; 0: they never do.
  Duration replace_after{std::chrono::seconds{30}};
  std::uint64_t snapshot_every = 100'000;  ///< events from one snapshot to the next
};

/// How many dry runs may wait for a master's planner.
struct DryRunBounds {
  std::uint32_t most = 16;                ///< besides the one under way
  std::uint32_t of_user = 4;              ///< of one user, the one under way counted
  Duration age{std::chrono::seconds{5}};  ///< then its asker waits no more
};

/// How many questions for output may wait for workers.
struct LogReaderBounds {
  std::uint32_t most = 1'000;
  std::uint32_t of_instance = 100;         ///< for the worker of one instance
  Duration age{std::chrono::seconds{10}};  ///< then its asker waits no more
};

/// How much of what tasks report of themselves is kept, and how often.
struct MetricRules {
  Duration interval{std::chrono::seconds{5}};  ///< from one record of what is new to the next
  /// Values of all tasks of unfinished jobs together, at most. A user may hold no more of them than
  /// are still free.
  std::uint32_t most_values = 50'000;
  std::uint32_t most_series = 200;  ///< names, each of one user, of which there are figures
};

/// The config's settings of a master: plain values, handed down whole to every part that goes by
/// one of them.
struct MasterSettings {
  /// From a round's tick to its decision: messages from meanwhile take part.
  Duration round_settle{std::chrono::milliseconds{1}};
  /// How long workers may take to answer before a round goes on without.
  Duration sample_timeout{std::chrono::seconds{2}};
  Duration accept_timeout{std::chrono::seconds{10}};  ///< how long it may take to accept a job
  MasterCaps caps;
  /// Where a master has a fleet it rents what does not fit there; the caps are for that alone.
  bool rent_beyond_fleet = false;
  GangRules gangs;
  /// A job that has waited this long for room goes before all later ones: room is kept for it, and
  /// for jobs of a higher priority than others at once. 0: for no job.
  Duration starve_after{std::chrono::minutes{10}};
  MasterWatch watch;
  /// How long what the cloud refused is not asked for again.
  Duration launch_backoff{std::chrono::minutes{10}};
  Duration launch_backoff_longest{std::chrono::hours{1}};  ///< refused again and again: up to this
  std::uint32_t max_attempts = 1;  ///< failed attempts before a task has failed for good
  std::uint32_t max_losses = 20;   ///< attempts of a task lost by their workers, likewise
  /// Attempts of a task, one after the other, that interruptions or moves end without progress
  /// before it is moved no more and placed on demand only; 0: any number.
  std::uint32_t max_interruptions = 5;
  std::uint32_t kept_attempts = 20;  ///< of a task: its first and its last ones, each; >= 1
  /// Instances that are gone whose lives are kept, the last ones, each with as many of its attempts
  /// as a task has at most, but at most 100. Of those that never were up at most 50 are kept.
  std::uint32_t kept_instances = 500;
  std::uint32_t queue_capacity = 10'000;       ///< waiting tasks at which the load is 1; >= 1
  Duration min_stay{std::chrono::minutes{5}};  ///< no plan moves a task that ran for less; 0: any
  /// A task that moves to an instance that is not ready yet runs on where it is until then; else it
  /// is stopped at once. Gangs are stopped at once.
  bool move_when_ready = false;
  /// From a round's decision to its plan, in virtual time; 0: before anything else happens.
  Duration decision_time{};
  std::uint64_t decision_budget = 0;  ///< steps that a decision may take; 0: any number
  /// A decision beside the master is allowed the steps that the policy takes in that time, by what
  /// its last ones took; 0: as many as it likes.
  Duration decision_deadline{};
  std::uint32_t slice_parts = 500;  ///< of a plan, carried out before other messages are heard
  std::uint32_t planner_lag = 1'000'000;  ///< events that a planner beside it may be behind
  DryRunBounds dry_runs;
  LogReaderBounds log_readers;
  MetricRules metrics;
  /// From a decision that failed to the next, doubled each time that it fails again.
  Duration planner_retry{std::chrono::seconds{10}};
  Duration planner_retry_longest{std::chrono::minutes{5}};
};

}  // namespace muster

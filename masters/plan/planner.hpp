#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "masters/event_listener.hpp"
#include "masters/master_dependencies.hpp"
#include "masters/master_memory.hpp"
#include "masters/plan/plan_check.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// Inputs of a decision that a planner does not know from the events.
struct RoundWish {
  Instant now;
  bool rents = true;            ///< false: nothing may be rented at present
  std::uint64_t budget = 0;     ///< steps that the decision may take; 0: any number
  std::size_t slice_parts = 0;  ///< see slices_of()
};

/// A planner's answer. Unless it has failed, whoever asked has to make a RoundDecided of it,
/// whatever has happened since: the policy knows already that it was.
struct PlannedRound {
  std::uint64_t round = 0;
  Instant at;  ///< time that it was decided for
  RoundNote note;
  std::size_t dropped = 0;  ///< figures of the note that are no numbers
  bool settled = false;     ///< asked again with nothing changed, the policy would change nothing
  std::uint64_t based_on = 0;  ///< how many events the planner had seen
  Budget budget;               ///< with what it took of it
  std::vector<Plan> slices;    ///< of the plan, to be carried out one after the other
  bool failed = false;         ///< there is no plan, and the round has not been
  std::string trouble{};       ///< failure of the policy since the last answer, if any
};

/// A decision with one job more.
struct DryRun {
  Plan plan;
  CheckedPlan checked;
  std::shared_ptr<const ClusterState> state;  ///< that the plan is for, with its resizes
  MasterCaps caps{};                          ///< that it was checked against
  std::uint32_t restarts = 0;                 ///< tasks that run and start again for these
};

/// When the rounds of a log were decided. Others may have happened before a plan was there: the
/// policy that decided has seen its RoundDecided before them, and so has one that learns from the
/// log.
class RoundsOfLog {
 public:
  explicit RoundsOfLog(std::span<const Event> log);
  /// The rounds, with the times that they were decided for, that are to be shown before that event
  /// of the log.
  std::span<const Event> decided_before(std::size_t event) const;

 private:
  std::map<std::size_t, std::vector<Event>> early_;
};

/// Decides what its master does: owns the policy, shows it every event of the log in order, and
/// asks it for plans. It shares the memory of its master, or goes on with one of its own, on
/// whatever thread, from the same events: after the n-th of them it knows what the master knew
/// after the n-th.
class Planner final : public EventListener {
 public:
  /// `shared` has to outlive the planner or its part_ways().
  Planner(const MasterSettings& settings, MasterDependencies parts, const MasterMemory& shared);

  const MasterSettings& settings() const { return settings_; }

  /// Takes a snapshot's words for the policy back; the part that it could not read, as a sentence.
  std::string restore(const std::string& words, Instant at);
  /// The shared memory has absorbed the event.
  void show(const Event& event);
  void after(const Event& event, const MasterFacts& /*facts*/) override { show(event); }

  /// From now on it has a memory of its own, which follow() is to keep up.
  void part_ways();
  /// The next events of the log.
  void follow(std::span<const Event> events);

  /// Asks the policy. It is shown the round that it has decided at once, so that what it remembers
  /// does not depend on how long the plan takes to be carried out. A policy that throws is made
  /// anew, of its own words as after a restart, or of nothing where it goes on to throw.
  PlannedRound decide(const RoundWish& wish);
  /// Goes on with this memory and a policy that knows nothing.
  void start_over(std::unique_ptr<MasterMemory> memory);
  /// On a copy of everything. `limits` are the master's; of gangs it holds what is so with the job.
  DryRun dry_run(Job job, const RoundWish& wish, PlanLimits limits) const;
  /// All that it knows, for a snapshot. Not between a decision and its RoundDecided.
  MasterSnapshot snapshot() const;

  const MasterMemory& memory() const { return *memory_; }
  std::uint64_t seen() const { return memory_->facts().events; }

 private:
  ClusterView view(Instant now) const;
  void look_at_gangs(std::uint64_t round, Instant now, bool rents);
  PlannedRound ask_policy(const RoundWish& wish);
  void renew(const std::string& what, Instant at);

  MasterSettings settings_;
  MasterDependencies parts_;
  std::unique_ptr<Policy> blank_;  ///< as it was before it was shown anything
  std::uint32_t failures_ = 0;     ///< of the policy since its last plan
  mutable std::string trouble_{};  ///< the last failure that was not reported
  std::unique_ptr<MasterMemory> own_;
  const MasterMemory* memory_;
  std::uint64_t shown_rounds_ = 0;  ///< the policy knows of all rounds before this one
  std::optional<JobId> turn_;       ///< whose it is in the present round
  std::vector<JobId> backed_off_;   ///< gangs for which nothing is rented in the present round
  UnavailableOfferings
      unavailable_offerings_;  ///< offerings that the cloud is not asked for in the present round
};

}  // namespace muster

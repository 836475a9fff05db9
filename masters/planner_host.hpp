#pragma once

#include <atomic>
#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "actors/messages.hpp"
#include "masters/planner.hpp"

namespace muster {

/// Where a master's decisions are made.
struct PlannerCare {
  /// The planner runs beside the master, on a memory of its own; otherwise in it, on the master's.
  bool beside = false;
  bool own_thread = false;  ///< the one beside has a thread to itself
  /// From a decision to its plan, at least: what decisions take where time is virtual.
  Duration decision_time{};
  /// A decision beside the master is allowed the steps that the policy takes in that time, by what
  /// its last ones took; 0: as many as it likes.
  Duration deadline{};
  std::size_t slice_parts = 500;      ///< of a plan, carried out before other messages are heard
  std::uint64_t max_lag = 1'000'000;  ///< events that the one beside may be behind
};

/// Runs what it is sent, one step after the other.
using StepActor = caf::typed_actor<caf::reacts_to<Wakeup>>;

/// A planner beside its master: an actor that goes through its steps in the order in which they
/// were asked for. It is told of every batch of events before it is asked anything that counts on
/// them. Nothing of it survives its master, which ends it.
class PlannerHost {
 public:
  PlannerHost(caf::actor_system& system, std::unique_ptr<Planner> planner, const PlannerCare& care,
              std::function<Duration()> stopwatch);
  ~PlannerHost();
  PlannerHost(const PlannerHost&) = delete;
  PlannerHost& operator=(const PlannerHost&) = delete;

  /// The next events of the log.
  void follow(std::vector<Event> events);
  /// How many events it has not seen yet.
  std::uint64_t lag() const;

  /// A decision, and how long it took.
  using Decided = std::function<void(PlannedRound&&, Duration)>;
  /// `then` is called by the planner's own thread, as are the functions of the others.
  void decide(const RoundWish& wish, Decided then);
  void dry_run(Job job, const RoundWish& wish, PlanLimits limits,
               std::function<void(DryRun&&)> then);
  void snapshot(std::function<void(MasterSnapshot&&)> then);

 private:
  struct Desk;

  void send(std::function<void()> step);

  std::shared_ptr<Desk> desk_;
  StepActor actor_;
  std::uint64_t told_ = 0;
};

}  // namespace muster

#pragma once

#include <atomic>
#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/messages/messages.hpp"
#include "masters/plan/planner.hpp"

namespace muster {

/// Where a master's decisions are made: in it, on its memory, or beside it on a memory of the
/// planner's own, which may have a thread to itself.
enum class PlannerPlace : std::uint8_t { in_master, beside, own_thread };

/// Runs what it is sent, one step after the other.
using StepActor = caf::typed_actor<caf::reacts_to<Wakeup>>;

/// A planner beside its master: an actor that goes through its steps in the order in which they
/// were asked for. It is told of every batch of events before it is asked anything that counts on
/// them. Nothing of it survives its master, which ends it.
class PlannerHost {
 public:
  PlannerHost(caf::actor_system& system, std::unique_ptr<Planner> planner, PlannerPlace place,
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
  /// `use` makes of the run what is wanted, by the planner's own thread; `failed` is called instead
  /// when the run or `use` fails, with why.
  void dry_run(Job job, const RoundWish& wish, PlanLimits limits, std::function<void(DryRun&&)> use,
               std::function<void(const std::string&)> failed);
  /// Events could not be followed: it decides nothing before start_over().
  bool is_lost() const;
  void start_over(std::unique_ptr<MasterMemory> memory);
  /// Nothing when the snapshot could not be made.
  void snapshot(std::function<void(std::optional<MasterSnapshot>&&)> then);

 private:
  struct Desk;

  void send(std::function<void()> step);

  std::shared_ptr<Desk> desk_;
  StepActor actor_;
  std::uint64_t told_ = 0;
};

}  // namespace muster

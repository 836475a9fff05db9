#pragma once

#include <caf/all.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "masters/actor/part_host.hpp"
#include "masters/master.hpp"
#include "masters/plan/dry_run_queue.hpp"
#include "masters/plan/planner_host.hpp"
#include "model/views.hpp"

namespace muster {

/// Where a master's planner sits, in it or beside it on a memory of its own, and what it is asked
/// there: decisions, dry runs and snapshots.
class PlannerSeat {
 public:
  struct Setup {
    PlannerPlace place = PlannerPlace::in_master;
    std::function<Duration()> stopwatch;  ///< any steady clock; measures, never decides
    std::function<void(Duration)> took;   ///< is told how long a decision took
    /// Is given what the master was that number of events ago; empty: nothing is saved.
    std::function<void(MasterSnapshot, std::uint64_t behind)> save_snapshot;
  };
  PlannerSeat(Master& master, PartHost& host, Setup setup);

  /// That many events from before the master was started again are in no snapshot.
  void recall(std::uint64_t unsaved) { unsaved_ = unsaved; }
  /// Once, after that and before the first event.
  void begin(caf::actor_system& system);
  /// It ends, with whatever it is about.
  void close();

  /// A decision is carried out before anything else happens.
  bool decides_at_once() const;
  /// The planner is told of the events, which are about to go on record.
  void follow(const std::vector<Event>& events);
  /// It is so far behind that no more jobs are to be taken.
  bool lags() const;

  using Planned = std::function<void(PlannedRound&&)>;
  /// Has it decide; `then` is called in the actor when the plan is to be carried out, not before
  /// the decision's time has passed.
  void decide(const RoundWish& wish, Planned then);
  /// Where it could not follow an event it starts over from the master's memory.
  void recover();
  /// From a decision to the last slice of its plan: no other begins, and no snapshot is made.
  void set_planning(bool planning) { planning_ = planning; }
  bool is_planning() const { return planning_; }

  /// Asks what the policy would do with one job more. Rounds and whatever else the planner was
  /// asked go first: of the dry runs it has one at a time. `in_place` makes the run while the
  /// planner is in the master.
  void dry_run(Job job, const std::function<PlanView(Job)>& in_place, PartAnswer<PlanView> answer);

  /// Saves what the master is when enough has happened since it did last. A planner beside it makes
  /// the snapshot, of what it knows when it comes to that; meanwhile more happens.
  void save_if_due();

 private:
  template <class Value>
  std::function<void(Value&&)> back_here(std::function<void(Value&&)> use);
  void begin_dry_run(Job job, PartAnswer<PlanView> answer);

  Master& master_;
  PartHost& host_;
  Setup setup_;
  std::unique_ptr<PlannerHost> beside_;  ///< null: the planner is in the master
  bool planning_ = false;
  bool snapshot_is_made_ = false;
  std::uint64_t unsaved_ = 0;  ///< events since the last snapshot
  DryRunQueue dry_runs_;
};

}  // namespace muster

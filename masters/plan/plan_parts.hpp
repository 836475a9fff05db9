#pragma once

#include <optional>
#include <vector>

#include "masters/plan/plan_check.hpp"

// Types that the parts of the plan check share.

namespace muster::plan_check {

/// A place of a plan with what was looked up for it. `task` is null when that is not known.
struct Seat {
  const TaskRow* task = nullptr;
  TypeId type;  ///< of the instance that it is for
  Grant grant;  ///< the task's grant there

  bool waits() const { return task != nullptr && task->phase == TaskPhase::pending; }
};
using Seats = std::vector<Seat>;  ///< one a place

/// The task starts with all of its job or not at all.
inline bool waits_for_peers(const ClusterState& state, const Seat& seat) {
  return seat.waits() && state.job(seat.task->job).job.gang;
}

constexpr std::uint32_t kNoUnit = ~std::uint32_t{0};

/// Which parts of a plan stand or fall together: those of a group, the waiting tasks of a gang, and
/// the groups and gangs that have a place in common or a launch that is of a group.
struct Units {
  // Of each part its unit, or kNoUnit.
  std::vector<std::uint32_t> launches, places, stops, releases;
  std::vector<bool> hold;  ///< one a unit: some task of it has room that a refusal would leave it
  std::size_t count = 0;
  bool grouped = false;  ///< some units are more than a gang
};
Units units_of(const Plan& plan, const ClusterState& state, const Seats& seats);

/// Inputs of the steps of a check.
struct CheckInput {
  const Plan& plan;
  const ClusterState& state;
  const PlanLimits& limits;
  const Seats& seats;
  const Units& units;
};

/// One a unit: some part of it is refused.
std::vector<bool> broken_units(const Units& units, const CheckedPlan& checked);

/// Refuses what is not refused yet of the units.
void refuse_units(const CheckInput& in, const std::vector<bool>& which, CheckedPlan& checked);

/// Refuses places that would overfill their instance, one after the other in the order of the plan.
/// A refused move keeps its task's room where it is, so that places before it, which counted on
/// that room, may not fit any more: the first one that does not is refused next.
/// Takes time in proportion to the places and, for each refused move, to their logarithm.
void settle_capacity(const Plan& plan, const ClusterState& state, const Seats& seats,
                     CheckedPlan& result);

/// Refuses the launches that the caps do not allow, with the places that need them. Launches are
/// granted in order, and those that a unit needs all together or not at all.
void grant_launches(const CheckInput& in, CheckedPlan& result);

}  // namespace muster::plan_check

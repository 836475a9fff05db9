#pragma once

#include <cstdint>
#include <span>

#include "model/cluster_state.hpp"
#include "model/plan.hpp"

// Changes to all tasks of a job in one operation: a group of the plan. Each function returns the
// group's number, 0 when there is nothing to do.

namespace muster {

/// A job, and why something is done to all of it.
struct WholeJob {
  const JobRow& job;
  Cause cause;
};

/// The number of a group that the plan has not.
std::uint32_t new_group(const Plan& plan);

/// Stops all tasks of the job that run or have a place.
std::uint32_t stop_job(Plan& plan, const ClusterState& state, const WholeJob& whole);

/// Places the tasks of the job that have not ended, in their order: each gets a target. There has
/// to be one for each of them.
std::uint32_t place_job(Plan& plan, const ClusterState& state, const WholeJob& whole,
                        std::span<const PlaceTarget> targets);

/// Stops all tasks of the job that run and starts them again where they are, with what they have
/// there.
std::uint32_t restart_job(Plan& plan, const ClusterState& state, const WholeJob& whole);

}  // namespace muster

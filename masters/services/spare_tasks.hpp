#pragma once

#include "model/feasible.hpp"

namespace muster {

/// The task of a service is no replica, and free to become one.
inline bool is_to_spare(const TaskRow& task) {
  return !task.wanted && task.phase == TaskPhase::capped;
}

/// One that is to spare may run in the place that is meant for another task of its service: one
/// that was interrupted too often may not go wherever the other may.
inline bool may_run_there(const ClusterState& state, const TaskRow& spare, Placing elsewhere) {
  elsewhere.task = &spare;
  return !why_infeasible(state, elsewhere);
}

}  // namespace muster

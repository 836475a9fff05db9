#pragma once

#include <optional>

#include "model/cluster_state.hpp"
#include "model/refusal.hpp"

namespace muster {

/// Rules that keep a running task from being moved for a better price.
struct StayRule {
  Instant now{};
  Duration min_stay{};  ///< time that a task runs in its place at least; 0: no such time
};

/// Why a policy may not move or stop the task; nothing when it may, or when it does not run. A gang
/// is moved as a whole, so that the one of its tasks that started last speaks for all. An instance
/// that is no longer wanted keeps no task: notices, lost workers and drains are not held up.
std::optional<Refusal> why_it_stays(const ClusterState& state, const TaskRow& task, StayRule rule);

/// Refusal of a move of a task that is confined, with the number of attempts that ended without
/// progress.
Refusal why_confined(const ClusterState& state, const TaskRow& task);

/// Whether work of the task outlives a stop: its job keeps checkpoints, or an earlier attempt has
/// left one, and where the task runs they go into the folder that the cluster shares.
bool keeps_work(const ClusterState& state, const TaskRow& task);

/// How long the task has run that would be lost if it were stopped now: nothing when it keeps its
/// work.
Duration unsaved(const ClusterState& state, const TaskRow& task, Instant now);

}  // namespace muster

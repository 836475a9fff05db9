#pragma once

#include <optional>

#include "model/cluster_state.hpp"
#include "model/refusal.hpp"

namespace muster {

/// What keeps a task that runs from being moved for a better price.
struct StayRule {
  Instant now{};
  Duration min_stay{};  ///< a task runs at least so long where it is; 0: there is no such time
};

/// Why a policy may not move or stop the task; nothing when it may, or when it does not run. A gang
/// is moved as a whole, so that the one of its tasks that started last speaks for all. An instance
/// that is no longer wanted keeps nobody: notices, lost workers and drains are not held up.
std::optional<Refusal> why_it_stays(const ClusterState& state, const TaskRow& task, StayRule rule);

/// What is said of a task that is confined, with how often its attempts ended without progress.
Refusal why_confined(const ClusterState& state, const TaskRow& task);

/// How long the task has run that would be lost if it were stopped now: nothing when its job keeps
/// checkpoints, or when an earlier attempt of it has left one.
Duration unsaved(const ClusterState& state, const TaskRow& task, Instant now);

}  // namespace muster

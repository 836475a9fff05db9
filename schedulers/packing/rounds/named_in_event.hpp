#pragma once

#include <vector>

#include "model/cluster_state.hpp"

namespace muster {

/// The tasks whose place, or whether they wait, an event may have changed and that it names, by
/// itself or by their job, as far as they are still in the state, which has taken the event in.
std::vector<Slot> tasks_named_in(const Event& event, const ClusterState& state);

/// The instance whose outcome the event tells; invalid without one. Such events may put tasks back
/// into the queue that they do not name.
InstanceId instance_named_in(const Event& event);

}  // namespace muster

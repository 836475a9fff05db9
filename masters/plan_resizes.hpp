#pragma once

#include <optional>

#include "model/cluster_state.hpp"
#include "model/plan.hpp"

namespace muster {

/// What a resize comes to: the job's task again where it is or is to be, with what its workers
/// demand there. Only one that why_not_resized() has nothing against has a target that counts.
Place place_of(const ClusterState& state, const Resize& resize);

/// Why a job cannot be given that width, as far as the job alone says it: the place that the resize
/// comes to is checked like every other one.
std::optional<Refusal> why_not_resized(const ClusterState& state, const Resize& resize);

}  // namespace muster

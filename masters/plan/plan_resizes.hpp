#pragma once

#include <optional>

#include "model/cluster_state.hpp"
#include "model/plan.hpp"
#include "model/stay.hpp"

namespace muster {

/// Why the job cannot be given that width now; nothing when it can.
std::optional<Refusal> why_not_resized(const ClusterState& state, const Resize& resize,
                                       StayRule stay);

}  // namespace muster

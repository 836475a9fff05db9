#pragma once

#include "model/plan.hpp"
#include "schedulers/packing/rounds/round_input.hpp"

namespace muster::own {

/// Makes groups of the parts of a plan that depend on each other, so that no task loses its place
/// because the one that was to follow it was refused. Instances between which tasks are moved, or
/// that a gang is on, belong together, with all that is placed, stopped, rented or given back
/// there. Parts that only start tasks or give empty instances back stay on their own.
void group_moves(const RoundInput& input, Plan& plan);

}  // namespace muster::own

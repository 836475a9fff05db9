#pragma once

#include <functional>

#include "model/plan.hpp"
#include "schedulers/packing/rounds/full_reconfiguration.hpp"
#include "schedulers/packing/types/placement_mask.hpp"
#include "schedulers/policy.hpp"

// The type of a new instance, whatever led to its set of tasks: it need not be the type for which
// the set was found. It is rented of the cheapest type of the same market on which each of the
// tasks has its demand and runs no slower. Of equal prices the planned type stays, then the
// catalog's first.

namespace muster {

/// Changes the types of the plan's launches, and the gains by what is saved. Offerings that the
/// cloud has refused lately are not chosen. The mask knows the state.
void use_cheapest_types(const ClusterView& view, const PlacementMask& mask, Plan& plan);

/// Likewise, for a configuration, before its bins become instances, so that a bin finds the
/// instance that it was given in an earlier round. `rests`: types that are not to be had now.
void use_cheapest_types(const PackingTasks& tasks, const WorthModel& model,
                        const std::function<bool(TypeId)>& rests, Configuration& configuration);

}  // namespace muster

#pragma once

#include <cstddef>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/plan.hpp"

namespace muster {

/// How many parts a plan has, the note apart.
std::size_t parts_of(const Plan& plan);

/// Cuts a plan into plans of at most `most` parts each (0: it stays one), to be checked and carried
/// out one after the other. Parts that depend on each other stay together: the waiting tasks of a
/// gang, a launch and its places, and all that comes to or leaves an instance. Such a group is
/// never cut: one that alone has more parts is a plan of its own. Refusals come first, then the
/// groups in the order of their first places, so that the plan's order of priority is kept. The
/// note is left out; there is at least one plan.
std::vector<Plan> slices_of(Plan&& plan, const ClusterState& state, std::size_t most);

}  // namespace muster

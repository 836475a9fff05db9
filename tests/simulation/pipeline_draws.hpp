#pragma once

#include "tests/simulation/scenario.hpp"

namespace muster::ring {

/// Adds pipelines to some scenarios, or to all that can have them: chains, fans and other graphs of
/// jobs, of which each waits for others as the graph says, some by a time, a deadline or a hold of
/// their own as well. Drawn apart from all else, so that scenarios without are what they are.
void draw_pipelines(Scenario& scenario, SeedShare share);

}  // namespace muster::ring

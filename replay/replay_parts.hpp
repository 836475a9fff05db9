#pragma once

#include "config/replay_parts.hpp"

namespace muster::replay {

/// All that a replay config may name: the workload formats and interference models that there are.
const ReplayParts& replay_parts();

}  // namespace muster::replay

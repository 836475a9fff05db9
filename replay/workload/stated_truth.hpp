#pragma once

#include "replay/workload/workload.hpp"

namespace muster::replay {

/// Whether the run times that the jobs state are the true ones: several formats have no other.
/// False when no job states any.
bool states_truth(const JobSource& workload);

}  // namespace muster::replay

#pragma once

#include <optional>

#include "model/fleet.hpp"
#include "replay/workload/workload.hpp"

namespace muster::replay {

/// The load that the jobs are to the fleet: the largest, over the kinds of resources, of
/// sum(demand x duration alone) / (capacity of the fleet x time from the first to the last
/// submission). A task counts with its demand on the first of the fleet's types that it may run on,
/// and not at all without such a type. Nothing when all jobs are submitted at once, or nothing is
/// asked for.
std::optional<double> offered_load(const JobSource& jobs, const Fleet& fleet,
                                   const Catalog& catalog);

/// Multiplies the times of submission by the factor that makes the offered load `load`, and says so
/// in the description. An error when no factor does.
Expected<CompactWorkload, WorkloadError> with_load(CompactWorkload workload, const Fleet& fleet,
                                                   const Catalog& catalog, double load);

}  // namespace muster::replay

#pragma once

#include <cstdint>

#include "replay/workload/readers.hpp"

namespace muster::replay {

/// Lets the jobs state the run times that the config wants: those of the trace, no run times, the
/// true ones (of each task, where tasks differ), the true ones times a factor that is drawn for
/// each job between 1 and `factor`, or the means divided by an error that is drawn for each job
/// from a file (`muster predict --ratios`). The same seed gives the same words. Errors: those of
/// the file.
RawJobsResult state_run_times(RawJobs raw_jobs, const StatedRunTimes& stated, std::uint64_t seed);

}  // namespace muster::replay

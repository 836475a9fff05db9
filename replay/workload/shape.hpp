#pragma once

#include <cstdint>

#include "replay/workload/readers.hpp"

namespace muster::replay {

/// Takes what the config wants of the jobs, which are in the order of submission: a sample of them,
/// and those that begin and, alone, would end in a window, which then begins at 0. The description
/// says what share of the work was left out. A drawn window is another one for each seed until all
/// were had. Errors: invalid, where no window has as many jobs as it has to have.
RawJobsResult take_part(RawJobs raw_jobs, const WorkloadConfig& config, std::uint64_t seed);

/// Lets that share of the jobs of several tasks want them on distinct instances. A greater share
/// has the jobs of a smaller one, and more.
void want_distinct_instances(RawJobs& raw_jobs, double share, std::uint64_t seed);

/// Lets a task that moves hold what it leaves for as long as its memory takes to send.
void charge_moves(RawJobs& raw_jobs, double mbit_s);

}  // namespace muster::replay

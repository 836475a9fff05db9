#pragma once

#include "config/replay_config.hpp"
#include "replay/metrics/measure.hpp"
#include "replay/workload/workload.hpp"

namespace muster::replay {

/// What a run's figures hold its jobs against, computed once from the truth of the workload: which
/// of them are long, how long each may take and takes alone, and what they cost by the tariff.
/// What the config asks nothing of is empty.
metrics::MeasureOptions job_limits(const JobSource& jobs, const ReplayConfig& config);

}  // namespace muster::replay

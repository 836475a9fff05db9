#pragma once

#include "config/replay_config.hpp"
#include "replay/metrics/measure.hpp"
#include "replay/workload/workload.hpp"

namespace muster::replay {

/// Limits that a run's figures hold its jobs against, computed once from the truth of the workload:
/// which of them are long, how long each may take and takes alone, and their cost by the tariff.
/// Limits that the config does not ask for are empty.
metrics::MeasureOptions job_limits(const JobSource& jobs, const ReplayConfig& config);

}  // namespace muster::replay

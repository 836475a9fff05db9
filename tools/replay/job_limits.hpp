#pragma once

#include "config/replay_config.hpp"
#include "tools/metrics/measure.hpp"
#include "tools/replay/workload/workload.hpp"

namespace muster::replay {

/// What a run's figures hold its jobs against, computed once from the truth of the workload: which
/// of them are long, and how long each may take. Each is empty where the config asks for none.
metrics::MeasureOptions job_limits(const JobSource& jobs, const WorkloadConfig& config);

}  // namespace muster::replay

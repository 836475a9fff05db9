#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "config/replay_config.hpp"
#include "model/catalog.hpp"
#include "replay/workload/workload.hpp"
#include "tools/bound/bound_report.hpp"

namespace muster::bound {

using TrialProgress = std::function<void(std::uint64_t seed, const FluidProgress&)>;

/// The bounds for the workloads of a replay's trials, the first of which has the config's seed. The
/// searches of each may look at `nodes` sets of tasks.
Expected<std::vector<TrialBound>, NoBound> solve_trials(
    const ReplayConfig& config, const Catalog& catalog,
    std::span<const replay::CompactWorkload> workloads, std::uint64_t nodes = kNodes,
    const TrialProgress& progress = {});

}  // namespace muster::bound

#include "tools/bound/solve_trials.hpp"

#include <utility>

namespace muster::bound {

Expected<std::vector<TrialBound>, NoBound> solve_trials(
    const ReplayConfig& config, const Catalog& catalog,
    std::span<const replay::CompactWorkload> workloads, std::uint64_t nodes,
    const TrialProgress& progress) {
  std::vector<TrialBound> trials;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    auto workload = fluid_workload(config, catalog, workloads[i]);
    if (!workload) return workload.error();
    TrialBound trial{config.seed + i, std::move(workload).value(), {}};
    FluidLimits limits;
    limits.nodes = nodes;
    if (progress) {
      limits.progress = [&](const FluidProgress& now) { progress(trial.seed, now); };
    }
    trial.bound = solve_fluid(trial.workload.problem, limits);
    trials.push_back(std::move(trial));
  }
  return trials;
}

}  // namespace muster::bound

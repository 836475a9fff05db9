#include "schedulers/packing/bound/divided_bound.hpp"

#include <algorithm>
#include <array>

#include "schedulers/packing/bound/covering_lp.hpp"
#include "schedulers/packing/bound/search_items.hpp"

// Hours of each type are rented, and the tasks' work is shared out over the types: a linear program
// with a row a kind (its work) and a row a type and resource (what is rented of it). Its duals are
// prices of work and, type by type, of resources. That no pattern beats the former is shown by the
// latter, and not believed of the solver: the prices are scaled down until it is so.

namespace muster::bound {
namespace {

using Amounts = std::array<double, kResourceKinds>;

std::uint32_t row_of(const FluidProblem& problem, std::size_t type, std::size_t resource) {
  return static_cast<std::uint32_t>(problem.kinds.size() + type * kResourceKinds + resource);
}

CoveringLp program_of(const FluidProblem& problem) {
  std::vector<double> needs(problem.kinds.size() + problem.types.size() * kResourceKinds, 0.0);
  for (std::size_t i = 0; i < problem.kinds.size(); ++i) needs[i] = problem.kinds[i].work_h;
  CoveringLp lp(needs);
  std::vector<LpEntry> entries;
  for (std::size_t type = 0; type < problem.types.size(); ++type) {
    entries.clear();
    for (std::size_t r = 0; r < kResourceKinds; ++r) {
      const double room = problem.types[type].capacity.amounts()[r] + kRoomForRounding;
      entries.push_back({row_of(problem, type, r), room});
    }
    lp.add_column(problem.types[type].usd_h, entries);
  }
  for (std::uint32_t kind = 0; kind < problem.kinds.size(); ++kind) {
    for (std::size_t type = 0; type < problem.types.size(); ++type) {
      const OnType& on = problem.kinds[kind].on[type];
      if (on.speed <= 0) continue;
      entries.assign(1, {kind, on.speed});
      for (std::size_t r = 0; r < kResourceKinds; ++r) {
        const double amount = on.amount.amounts()[r];
        if (amount > 0) entries.push_back({row_of(problem, type, r), -amount});
      }
      lp.add_column(0, entries);
    }
  }
  return lp;
}

/// Factor by which the prices of work have to be lowered for resources at `resource_usd` to show
/// that no pattern on the type is worth more than its cost; 0 when they cannot.
double scale_on(const FluidProblem& problem, std::size_t type,
                const std::vector<double>& usd_per_work_h, const Amounts& resource_usd) {
  double instance = 0;
  for (std::size_t r = 0; r < kResourceKinds; ++r) {
    instance += resource_usd[r] * (problem.types[type].capacity.amounts()[r] + kRoomForRounding);
  }
  double most = 0;  // dollars of work for a dollar of resources
  for (std::size_t kind = 0; kind < problem.kinds.size(); ++kind) {
    const OnType& on = problem.kinds[kind].on[type];
    const double worth = on.speed * usd_per_work_h[kind];
    if (worth <= 0) continue;
    double taken = 0;
    for (std::size_t r = 0; r < kResourceKinds; ++r) {
      taken += resource_usd[r] * on.amount.amounts()[r];
    }
    if (taken <= 0) return 0;
    most = std::max(most, worth / taken);
  }
  const double pattern = most * instance;
  return pattern > 0 ? std::min(1.0, problem.types[type].usd_h / pattern) : 1;
}

}  // namespace

Proof divided_bound(const FluidProblem& problem) {
  const LpSolution solution = program_of(problem).solve();
  Proof proof;
  proof.usd_per_work_h.assign(solution.duals.begin(),
                              solution.duals.begin() + static_cast<long>(problem.kinds.size()));
  double scale = 1 - kRounding;
  for (std::size_t type = 0; type < problem.types.size(); ++type) {
    Amounts resource_usd{};
    for (std::size_t r = 0; r < kResourceKinds; ++r) {
      resource_usd[r] = solution.duals[row_of(problem, type, r)];
    }
    scale = std::min(scale, scale_on(problem, type, proof.usd_per_work_h, resource_usd));
  }
  for (std::size_t kind = 0; kind < problem.kinds.size(); ++kind) {
    proof.usd_per_work_h[kind] *= scale;
    proof.usd += proof.usd_per_work_h[kind] * problem.kinds[kind].work_h;
  }
  proof.usd *= 1 - kRounding;
  return proof;
}

}  // namespace muster::bound

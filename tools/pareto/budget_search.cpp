#include "tools/pareto/budget_search.hpp"

#include <algorithm>

#include "schedulers/boa/class_work.hpp"

namespace muster::pareto {

double ample_budget(const std::vector<boa::ClassWork>& work, boa::PlanKind kind) {
  double budget = std::max(1.0, boa::cheapest_widths(work).cost_gpus);
  for (int i = 0; i < kMostTries; ++i) {
    const auto plan = boa::plan_by(kind, work, budget);
    // The unused part of a plan's budget is all that it has no use for.
    if (plan && plan->cost_gpus < budget / 2) return budget;
    budget *= 2;
  }
  return budget;
}

}  // namespace muster::pareto

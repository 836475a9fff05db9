#pragma once

#include <cmath>
#include <vector>

#include "schedulers/boa/boa_params.hpp"
#include "schedulers/boa/width_plan.hpp"

namespace muster::pareto {

/// To which budgets are told apart.
inline constexpr double kStepGpus = 1e-3;
/// Doublings and halvings of a search for a budget, at the most.
inline constexpr int kMostTries = 100;

/// The least budget, in whole steps, of which `is_enough` is true; it is of `enough`, and of no
/// budget below some limit.
template <class IsEnough>
double least_of(double enough, const IsEnough& is_enough) {
  double below = 0;
  for (int i = 0; i < kMostTries && enough - below > kStepGpus / 2; ++i) {
    const double between = (below + enough) / 2;
    (is_enough(between) ? enough : below) = between;
  }
  // Rounded up, so that whoever types the budget as it is printed has enough.
  const double shown = std::ceil(enough / kStepGpus) * kStepGpus;
  return is_enough(shown) ? shown : enough;
}

/// A budget at which more brings nothing, or the least one doubled as often as may be.
double ample_budget(const std::vector<boa::ClassWork>& work, boa::PlanKind kind);

}  // namespace muster::pareto

#pragma once

#include <vector>

#include "schedulers/packing/bound/fluid_problem.hpp"

namespace muster::bound {

/// Prices of work that no pattern beats, and what all the work is worth at them: no schedule costs
/// less.
struct Proof {
  double usd = 0;
  std::vector<double> usd_per_work_h;  ///< of each kind
};

/// A bound that looks at no pattern: the cost of the work when instances and tasks can be divided
/// at will and no task slows another. Close where tasks are small and mix well, and quick always.
Proof divided_bound(const FluidProblem& problem);

}  // namespace muster::bound

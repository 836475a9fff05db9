#pragma once

#include <cstdint>
#include <vector>

#include "schedulers/packing/bound/fluid_problem.hpp"

namespace muster::bound {

/// Prices of work that come close to the duals of a fluid problem, for who needs them often.
struct QuickDuals {
  std::vector<double> usd_per_work_h;  ///< of each kind
  double usd = 0;                      ///< cost of the patterns found
  bool settled = false;                ///< no further pattern was found
  std::uint64_t looks = 0;             ///< at one more task for a pattern
};

/// Column generation as in solve_fluid(), whose patterns are filled task by task with what gains
/// most: a pattern that is worth its price may be missed, and then prices are a little too high.
/// It stops once it has looked that often. Each kind has to fit a type.
QuickDuals quick_duals(const FluidProblem& problem, std::uint64_t looks);

}  // namespace muster::bound

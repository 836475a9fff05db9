#pragma once

#include <cstdint>
#include <vector>

#include "schedulers/packing/bound/column_generation.hpp"

namespace muster::bound {

/// The least cost of whole instances that host every task at once, between two values.
struct WholeBound {
  double bound_usd_h = 0;    ///< no choice of instances costs less
  double reached_usd_h = 0;  ///< cost of `instances`
  bool exact = false;        ///< the two are equal: all was looked at
  std::vector<Pattern> instances{};
  std::uint64_t nodes = 0;  ///< sets of tasks that were looked at
};

/// Branch and bound, for few tasks: of what is left the kind that is worth most gets an instance,
/// filled until nothing more fits, in every way. Judged by the prices that prove `divided`, the
/// bound of the same problem with parts of instances. An hour of work of a kind is one task here:
/// speeds are 0 or 1, and no task slows another. Cut off after `nodes`, it says what `divided`
/// proves.
WholeBound solve_whole(const FluidProblem& problem, const FluidBound& divided, std::uint64_t nodes);

}  // namespace muster::bound

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "schedulers/packing/bound/fluid_problem.hpp"

namespace muster::bound {

/// Patterns of more tasks than this are searched together, by a rougher bound.
inline constexpr std::uint32_t kMostCounted = 12;
/// A pattern of no more than this share above its type's price is no find.
inline constexpr double kGain = 1e-9;

/// A pattern that is worth more than an hour of its type costs.
struct FoundPattern {
  Pattern pattern;
  double value_usd_h = 0;
};

/// Result of a search.
struct TypeFinds {
  std::vector<FoundPattern>
      patterns;           ///< the best of each number of tasks, those worth their price
  double most_usd_h = 0;  ///< no pattern on the type is worth more than this, or than its price
  bool complete = true;   ///< all was looked at; else `most_usd_h` is of what was left out too
  std::uint64_t nodes = 0;
};

/// Looks for the patterns of `type` that are worth the most when an hour of work of each kind is
/// worth `usd_per_work_h`. Branch and bound: exact when it may look at enough nodes, and in any
/// case `most_usd_h` holds. `spread`: finds of every number of tasks are wanted, not the best one
/// alone. FluidKind::most is heeded where no task slows another; elsewhere patterns may exceed it.
TypeFinds find_patterns(const FluidProblem& problem, std::uint32_t type,
                        const std::vector<double>& usd_per_work_h, std::uint64_t nodes,
                        bool spread = false);

}  // namespace muster::bound

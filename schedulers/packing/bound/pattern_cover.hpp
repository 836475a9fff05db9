#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "schedulers/packing/bound/covering_lp.hpp"
#include "schedulers/packing/bound/fluid_problem.hpp"

namespace muster::bound {

/// The program of a fluid problem over the patterns known so far: the cheapest hours of these that
/// do all the work. The problem has to outlive it.
class PatternCover {
 public:
  /// Knows each kind alone, on the type where an hour of its work costs the least; each has to fit
  /// a type.
  explicit PatternCover(const FluidProblem& problem);

  /// False: it was known already. Its kinds have to rise.
  bool add(const Pattern& pattern);
  LpSolution solve() { return lp_.solve(); }
  /// All of them, in the order in which they were added: one for each activity of the solution.
  const std::vector<Pattern>& patterns() const { return patterns_; }

 private:
  void add_alone(std::uint32_t kind);

  const FluidProblem& problem_;
  CoveringLp lp_;
  std::vector<Pattern> patterns_;
  std::set<std::pair<std::uint32_t, std::vector<std::uint32_t>>> known_;
};

}  // namespace muster::bound

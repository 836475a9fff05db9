#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/expected.hpp"
#include "schedulers/boa/speedup_hull.hpp"
#include "schedulers/boa/width_plan.hpp"

namespace muster::boa {

/// A way to run a piece of work: how long it takes, and what that costs in the unit of the budget.
struct RunOption {
  double time = 0;
  double cost = 0;
  std::uint32_t width = 1;
  std::uint32_t type = 0;  ///< of the workers, where there are several
};

/// The vertices of the lower convex hull of (cost, time), by rising cost: each saves less time for
/// what it costs more than the one before it. For any mix of the options, some mix of two
/// neighbours takes no longer and costs no more.
std::vector<RunOption> efficient_options(std::vector<RunOption> options);

/// Those of one GPU-hour of work by the vertices of a hull. A straight piece of the hull is one in
/// (cost, time) as well, so that these are all of the hull's that are efficient.
std::vector<RunOption> efficient_options(const SpeedupHull& hull);

/// Jobs of one class in one epoch: problem (1)'s pair (i, j).
struct PairLoad {
  double load = 0;                     ///< how much of the options' work comes in an hour
  double weight = 1;                   ///< of its time in what is made least
  std::span<const RunOption> options;  ///< efficient ones, at least one
};

/// The pair of which a share has the option after its own.
struct PairSplit {
  std::size_t pair = 0;
  double share = 0;  ///< in (0, 1)
};

/// An answer to problem (1), or to problem (7) where options differ in type.
struct Allocation {
  std::vector<std::size_t> chosen;  ///< by pair: which of its options
  std::optional<PairSplit> split;   ///< at most one pair; without it the budget is not all spent
  double time = 0;   ///< sum of load x weight x time: with weights of 1 the jobs at work on average
  double cost = 0;   ///< sum of load x cost, the split counted
  double price = 0;  ///< time saved by the last unit of cost; 0: the budget is more than enough
};

/// Problem (1) of the paper (Lemma 4.5), exactly: steps from an option to the next one, by falling
/// saving for a unit of cost, until the budget is spent. The steps are sorted once, so that several
/// budgets can be tried on the same pairs. Data that the pairs refer to has to outlive it.
class BudgetSpender {
 public:
  explicit BudgetSpender(std::vector<PairLoad> pairs);

  /// A budget below `least_cost()` is refused, with what is needed. O(steps within the budget).
  Expected<Allocation, WidthError> spend(double budget) const;
  double least_cost() const { return least_cost_; }
  /// At which more budget brings nothing.
  double most_cost() const;

 private:
  struct Step {
    double price = 0;
    std::size_t pair = 0;
    std::size_t to = 0;
    double time_after = 0;  ///< of all pairs, once it is taken
    double cost_after = 0;
  };

  std::vector<PairLoad> pairs_;
  std::vector<Step> steps_;
  double least_cost_ = 0;
  double slowest_ = 0;
};

}  // namespace muster::boa

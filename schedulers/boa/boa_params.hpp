#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "model/time.hpp"

namespace muster::boa {

/// GPUs that count against a budget.
enum class BudgetCounts : std::uint8_t {
  used,   ///< the GPUs that jobs have
  rented  ///< those of the instances, whoever has them
};

/// How widths are planned.
enum class PlanKind : std::uint8_t {
  path,   ///< a shortest path of each class at a common price
  share,  ///< likewise, with time sharing: jobs of one class may go two ways
  glue    ///< the paper's Algorithm 1: glued epochs, drawn at random
};

/// Where the speeds of jobs at any width come from.
enum class SpeedSource : std::uint8_t {
  oracle,  ///< from what jobs state; of those that state nothing they are learnt
  learned  ///< from what jobs of the class have shown, whatever they state
};

/// Where rates of arrival come from until the jobs themselves show them.
struct ArrivalRules {
  Duration window{std::chrono::hours{24}};  ///< over which arrivals are counted
  std::vector<std::string> stated;          ///< "class:jobs an hour"; none: they are counted
  /// Above 0: for this time before the first job, as far as the window reaches back, the load is
  /// assumed to have been this share of the budget, with the classes in the proportion in which
  /// they came.
  double load_before = 0.5;
  Duration before{std::chrono::hours{3}};
};

/// Least share of a budget of rented GPUs that jobs get, whatever else is rented.
inline constexpr double kLeastShare = 0.5;

/// Parameters of the policy.
struct BoaParams {
  Duration period{std::chrono::seconds{60}};
  bool eager = true;  ///< a round when a job comes, goes on to another epoch or leaves room, too
  double budget_gpus = 64;
  /// Above 0 it takes the place of the budget of GPUs: jobs may be on GPUs of any type, all workers
  /// of one job on one type.
  double budget_usd_h = 0;
  Duration cold_start{};  ///< of a job that goes on on GPUs of another type; at least its own start
  BudgetCounts counts = BudgetCounts::rented;
  SpeedSource speedups = SpeedSource::oracle;
  Duration recompute{std::chrono::minutes{15}};
  PlanKind plan = PlanKind::path;
  Duration keep_empty{};      ///< time that a node was empty after which it is given back
  bool empties_nodes = true;  ///< jobs move so that fewer nodes hold them, where that pays
  bool rescales = true;       ///< the width plan knows what a change of width costs
  ArrivalRules arrivals;
  std::vector<std::string> weights;  ///< "class:weight" of its jobs' time; 1 without a statement
};

}  // namespace muster::boa

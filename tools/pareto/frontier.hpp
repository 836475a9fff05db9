#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/expected.hpp"
#include "schedulers/boa/boa_params.hpp"
#include "schedulers/policy_module.hpp"
#include "tools/pareto/elastic_load.hpp"
#include "tools/pareto/in_nodes.hpp"

namespace muster::pareto {

/// Prediction of the width calculator for one budget, in a world that has instances at once.
struct Prediction {
  double gpus = 0;        ///< that jobs have on average, starts included
  double gpu_h = 0;       ///< of all jobs
  double usd_h = 0;       ///< of those GPUs
  double usd = 0;         ///< of all jobs
  double mean_jct_s = 0;  ///< of a job, whatever its class weighs
  double weighted_jct_s =
      0;                   ///< with the weights of the classes: equal to the mean where all are 1
  double bound_jct_s = 0;  ///< no widths within the budget have a lower weighted mean
};

/// Result of a budget when the config was replayed with it.
struct Replayed {
  double rented_gpu_h = 0;  ///< from launches to the decisions to give back
  double usd = 0;           ///< of all instances, until they were gone
  double mean_jct_s = 0;
  double p95_jct_s = 0;
  std::uint64_t jobs_left = 0;  ///< that did not complete
};

/// Prediction for a budget of dollars where jobs may be on GPUs of any type: starts not counted
/// (the paper's problem (7)), and counted.
struct TypedPrediction {
  double usd_h = 0;           ///< that jobs may take
  double one_type_jct_s = 0;  ///< weighted mean on the cheapest type alone
  double jct_s = 0;           ///< on all of them
  std::vector<double> gpus;   ///< that jobs have on average, by type
  /// With starts; nothing where they leave too little of the budget.
  std::optional<double> started_jct_s;
  std::vector<double> started_gpus;
};

/// A budget, and what is known of it.
struct FrontierPoint {
  double budget_gpus = 0;
  std::optional<Prediction> predicted{};  ///< none: the budget cannot be kept
  std::optional<InNodes>
      in_nodes{};  ///< of it, or the least for a target; nothing: no budget meets it
  std::optional<Replayed> replayed{};
  std::optional<TypedPrediction> typed{};  ///< where types were asked for
};

/// The least that any budget has to be, GPUs: below it no plan of the kind keeps it.
double least_budget(const ElasticLoad& load, boa::PlanKind plan);

/// Faults of a policy's budget on the workload, a sentence each: classes that it misnames, no
/// elastic jobs, and why the budget cannot be kept by any plan or, where it is one of GPUs that are
/// rented, in nodes that have to start, with the prediction. Empty when it can, or when the policy
/// has no budget or the workload does not state enough. `rents`: instances are rented without a
/// cap, so that it may be overspent.
std::vector<std::string> budget_faults(const PolicySpec& policy, const replay::JobSource& jobs,
                                       const Catalog& catalog, bool rents);

/// By rising budget.
struct Frontier {
  std::vector<FrontierPoint> points;
  double least_gpus = 0;  ///< least_budget()
};

/// Prediction for each of the budgets.
Frontier predict_frontier(const ElasticLoad& load, const std::vector<double>& budgets_gpus,
                          boa::PlanKind plan);

/// Adds predictions for the dollars that the budgets come to on the cheapest type, spent on all
/// types, with `cold_start` for a start on another type than before. The load has types.
void predict_types(const ElasticLoad& load, Duration cold_start, Frontier& frontier);

/// That number of positions of points that can be replayed, as evenly over them as may be.
std::vector<std::size_t> spread_over(const Frontier& frontier, std::size_t count);

/// Why no budget meets a target.
enum class NoBudget : std::uint8_t {
  below_all  ///< jobs take longer than that whatever is spent
};

/// The least budget whose predicted mean JCT, weighted by class, is at most the target; to a
/// thousandth of a GPU.
Expected<FrontierPoint, NoBudget> cheapest_budget(const ElasticLoad& load, double target_s,
                                                  boa::PlanKind plan);

}  // namespace muster::pareto

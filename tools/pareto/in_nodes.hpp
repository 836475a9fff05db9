#pragma once

#include <optional>

#include "schedulers/boa/boa_params.hpp"
#include "tools/pareto/elastic_load.hpp"

namespace muster::pareto {

/// What a budget of rented GPUs gives where they come in instances that take time to be ready.
struct InNodes {
  double rented_gpus = 0;     ///< on average: the sum of the next three
  double used_gpus = 0;       ///< that jobs have, starts of theirs included
  double starting_gpus = 0;   ///< of instances that are not ready yet
  double remainder_gpus = 0;  ///< of instances that jobs do not fill
  double rented_gpu_h = 0;    ///< over the hours in which jobs come
  double usd = 0;             ///< for what is billed in those hours
  double mean_jct_s = 0;      ///< of a job, whatever its class weighs
  double weighted_jct_s = 0;  ///< with the weights of the classes
};

/// The plan whose GPUs, together with those that start or are left over, are as many as the budget.
/// Nothing where no plan leaves room for these.
///
/// A job that begins or grows orders instances for what it lacks and gives back at once what it no
/// longer needs, so that all of its growth waits until they are ready: at the beginning for
/// nothing, later at the width that it has. Of the last instance, half of what it holds besides one
/// worker is left over. Arrivals that find room which others have just left are not counted, nor is
/// waiting of jobs for each other.
std::optional<InNodes> predict_in_nodes(const ElasticLoad& load, double budget_gpus,
                                        boa::PlanKind kind);

/// The least budget of rented GPUs for which the weighted mean JCT is at most the target, to a
/// thousandth of a GPU of what is planned; `rented_gpus` is that budget. Nothing where none is.
std::optional<InNodes> cheapest_in_nodes(const ElasticLoad& load, double target_s,
                                         boa::PlanKind kind);

}  // namespace muster::pareto

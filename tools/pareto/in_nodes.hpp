#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedulers/boa/boa_params.hpp"
#include "tools/pareto/elastic_load.hpp"

namespace muster::pareto {

/// Effect on a width plan where GPUs come in instances that take time to be ready.
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

/// Effect on the plan by which jobs have that number of GPUs, or on the cheapest one where that is
/// more.
InNodes in_nodes_at(const ElasticLoad& load, boa::PlanKind kind, double planned_gpus);

/// Plans for a load, and what becomes of them in nodes.
///
/// A job that begins or grows orders instances for what it lacks and gives back at once what it no
/// longer needs, so that all of its growth waits until they are ready: at the beginning for
/// nothing, later at the width that it has, through as many epochs as that takes. Of the last
/// instance, half of what it holds besides one worker is left over. Arrivals that find room which
/// others have just left are not counted, nor is waiting of jobs for each other.
///
/// Where epochs are short beside starts a wider plan may well take longer. So the plans of a fixed
/// number of budgets from the least to an ample one are made once, and each answer is the best of
/// them that will do, refined between its neighbours.
class NodePlans {
 public:
  NodePlans(const ElasticLoad& load, boa::PlanKind kind);

  /// The plan with the least weighted mean JCT of those that rent no more than that. Nothing where
  /// no budget does.
  std::optional<InNodes> within(double budget_gpus) const;
  /// The plan that rents least of those whose weighted mean JCT is at most that; `rented_gpus` is
  /// the budget for it. Nothing where no plan is.
  std::optional<InNodes> cheapest(double target_s) const;

 private:
  std::optional<InNodes> made_for(double planned_gpus) const;
  enum class Beside : std::uint8_t { previous, next };

  /// Of the plans that will do the one with the least figure, refined towards the plan beside it,
  /// which did not do or has more of it.
  template <class WillDo>
  std::optional<InNodes> least_of_those(const WillDo& will_do, double InNodes::*figure,
                                        Beside beside) const;

  const ElasticLoad& load_;
  boa::PlanKind kind_;
  std::vector<boa::ClassWork> work_;
  std::vector<double> planned_;               ///< budgets, rising
  std::vector<std::optional<InNodes>> made_;  ///< by them
};

}  // namespace muster::pareto

#pragma once

#include <cstdint>
#include <vector>

#include "schedulers/boa/gpu_types.hpp"
#include "schedulers/boa/width_plan.hpp"

// The paper's appendix E with starts: jobs whose width and type of GPU may change from epoch to
// epoch, under a budget of dollars.

namespace muster::boa {

/// Workers of a job, all on GPUs of one type.
struct TypedWidth {
  std::uint32_t type = 0;  ///< its position among the types
  std::uint32_t width = 1;

  friend bool operator==(const TypedWidth&, const TypedWidth&) = default;
};

/// How wide the jobs of each class are in each epoch, on which GPUs, and what comes of it.
struct TypedWidthPlan {
  std::vector<std::vector<TypedWidth>> widths;  ///< by class and epoch
  double mean_jct_h = 0;
  double weighted_jct_h = 0;     ///< with the weights of the classes, which add up to 1 a job
  double usd_h = 0;              ///< of the GPUs that jobs have on average, starts included
  std::vector<double> gpus;      ///< by type, that jobs have on average
  double least_usd_h = 0;        ///< the least that any plan costs
  double lower_bound_jct_h = 0;  ///< nothing within the budget has a lower weighted mean
};

/// What a plan with several types is made of.
struct TypedWork {
  const std::vector<ClassWork>& classes;
  const std::vector<GpuType>& types;
  double cold_h = 0;  ///< a start on GPUs of another type than before; at least the class's own
};

/// The types and widths that make the weighted mean JCT least while jobs cost no more on average
/// than the budget: the best path of each class over its epochs at the lowest common price of a
/// dollar that keeps the budget. A budget that nothing keeps is refused, with what is needed.
/// O(classes x epochs x types x widths) for each price that is tried.
Expected<TypedWidthPlan, WidthError> plan_types(const TypedWork& work, double budget_usd_h);

/// What costs least, whatever it takes.
TypedWidthPlan cheapest_types(const TypedWork& work);

}  // namespace muster::boa

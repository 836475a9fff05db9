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

/// A job in an epoch that is planned on another type than the one that it is on. The cost of
/// staying there and that of going on as planned, the cold start included, are compared in weighted
/// hours, at the price of the plan and in the mean of the jobs of its class.
struct TypeStay {
  std::uint32_t width = 1;     ///< of the job, as long as it stays
  double start = 0;            ///< cost of a start at that width, for a job with another one
  double more_in_epoch = 0;    ///< additional cost of the epoch, as a whole, in its place
  double more_afterwards = 0;  ///< additional cost of all later ones, less the cold start

  /// Going on as planned is worth a cold start to a job of that width, with such a share of its
  /// epoch ahead.
  bool is_left(std::uint32_t present_width, double share_ahead) const {
    const double change = present_width == width ? 0 : start;
    return change + share_ahead * more_in_epoch + more_afterwards >= 0;
  }

  friend bool operator==(const TypeStay&, const TypeStay&) = default;
};

/// How wide the jobs of each class are in each epoch, on which GPUs, and what comes of it.
struct TypedWidthPlan {
  std::vector<std::vector<TypedWidth>> widths;  ///< by class and epoch
  /// Of jobs that are on another type than planned, by class, epoch and type.
  std::vector<std::vector<std::vector<TypeStay>>> stays;
  double mean_jct_h = 0;
  double weighted_jct_h = 0;     ///< with the weights of the classes, which add up to 1 a job
  double usd_h = 0;              ///< of the GPUs that jobs have on average, starts included
  std::vector<double> gpus;      ///< by type, that jobs have on average
  double least_usd_h = 0;        ///< the least that any plan costs
  double lower_bound_jct_h = 0;  ///< nothing within the budget has a lower weighted mean
};

/// Inputs of a plan with several types.
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

/// The cheapest plan, however long jobs take.
TypedWidthPlan cheapest_types(const TypedWork& work);

}  // namespace muster::boa

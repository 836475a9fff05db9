#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/expected.hpp"

namespace muster::boa {

/// An epoch of the jobs of a class.
struct EpochWork {
  double gpu_h = 0;             ///< work of it by one worker, GPU-hours
  std::vector<double> speedup;  ///< of widths 1, 2, ..., relative to one worker
};

/// Jobs that are alike.
struct ClassWork {
  std::string name;
  double jobs_per_h = 0;
  double rescale_h = 0;  ///< whenever a job starts at a width: its GPUs are held without progress
  std::vector<EpochWork> epochs;
  double weight = 1;  ///< of its jobs' time in the mean that is made least

  friend bool operator==(const ClassWork&, const ClassWork&) = default;
};

/// Hours of a job and GPU-hours that it takes.
struct JobFigures {
  double hours = 0;
  double gpu_h = 0;
};

/// Jobs of one class of which a share is as wide as this instead.
struct SharedWidths {
  std::size_t work_class = 0;
  double share = 0;                   ///< of its jobs, in (0, 1)
  std::vector<std::uint32_t> widths;  ///< by epoch
};

/// How wide the jobs of each class are in each epoch, and what comes of it (Lemma 4.8).
struct WidthPlan {
  std::vector<std::vector<std::uint32_t>> widths;  ///< by class and epoch
  std::optional<SharedWidths> shared{};            ///< where jobs of a class go two ways
  std::vector<JobFigures> jobs;                    ///< by class, rescales included; on average
  double mean_jct_h = 0;
  double weighted_jct_h = 0;     ///< with the weights of the classes, which add up to 1 a job
  double cost_gpus = 0;          ///< that jobs have on average, rescales included
  double least_gpus = 0;         ///< the least that any widths need
  double lower_bound_jct_h = 0;  ///< no widths within the budget have a lower weighted mean
};

enum class WidthError : std::uint8_t { over_budget };

/// The widths that make the weighted mean JCT least while jobs have no more GPUs on average than
/// the budget (the paper's problem with rescales, 4.3): the best path of each class over its epochs
/// at the lowest common price of a GPU-hour that keeps the budget. A budget that no widths keep is
/// refused, with what they need. O(classes x epochs x widths) for each price that is tried.
Expected<WidthPlan, WidthError> plan_widths(const std::vector<ClassWork>& classes,
                                            double budget_gpus);

/// As plan_widths(), but jobs of one class at most may go two ways, so that the budget is spent to
/// the end: no plan is better, however many ways it has (the bound is reached).
Expected<WidthPlan, WidthError> share_widths(const std::vector<ClassWork>& classes,
                                             double budget_gpus);

/// Sum of rate x weight: divisor of sums of weighted hours.
double weighted_rate(const std::vector<ClassWork>& classes);

/// The widths that need the least GPUs, whatever they take.
WidthPlan cheapest_widths(const std::vector<ClassWork>& classes);

}  // namespace muster::boa

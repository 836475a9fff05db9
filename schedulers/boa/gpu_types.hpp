#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedulers/boa/run_options.hpp"
#include "schedulers/boa/width_plan.hpp"

// The paper's appendix E: GPUs of several types, a budget in dollars, and jobs of which each runs
// on GPUs of one type at a time.

namespace muster::boa {

/// A type of GPU that can be rented.
struct GpuType {
  std::string name;
  double usd_h = 0;  ///< of one GPU
  double speed = 1;  ///< of one, relative to the GPUs by whose hours work is counted

  friend bool operator==(const GpuType&, const GpuType&) = default;
};

/// How fast a piece of work is on GPUs of one type: s^(h)(k) of widths 1, 2, ..., relative to one
/// of the GPUs by whose hours work is counted.
struct TypeSpeeds {
  std::vector<double> speedup;
  double usd_h = 0;  ///< of one GPU
};

/// The efficient ways to do a GPU-hour of work on any one of the types, in hours and dollars: the
/// lower hull of all types' points. An option's type is its position.
std::vector<RunOption> typed_options(std::span<const TypeSpeeds> types);

/// Of one class and epoch, a share of whose jobs runs in another way.
struct TypeSplit {
  std::size_t work_class = 0;
  std::size_t epoch = 0;
  RunOption option;
  double share = 0;  ///< in (0, 1)
};

/// On which GPUs jobs run, and how many.
struct TypedPlan {
  std::vector<std::vector<RunOption>> chosen;  ///< by class and epoch
  std::optional<TypeSplit> split;              ///< at most one: all the budget is spent by it
  double mean_jct_h = 0;
  double weighted_jct_h = 0;  ///< with the weights of the classes, which add up to 1 a job
  double usd_h = 0;
  std::vector<double> gpus;  ///< by type, that jobs have on average
  double least_usd_h = 0;    ///< the least that any plan costs
};

/// Problem (7), exactly: starts are not counted, as the paper has it. An epoch is as many times as
/// fast on GPUs of a type as the type's speed. A budget that nothing keeps is refused.
class TypePlanner {
 public:
  TypePlanner(const std::vector<ClassWork>& classes, const std::vector<GpuType>& types);

  Expected<TypedPlan, WidthError> plan(double budget_usd_h) const;

 private:
  struct Piece {
    std::size_t work_class = 0;
    std::size_t epoch = 0;
    double gpu_h = 0;  ///< of work that comes in an hour
    std::vector<RunOption> options{};
  };

  std::vector<double> rates_;    ///< by class, jobs an hour
  std::vector<double> weights_;  ///< by class
  std::size_t types_;
  std::vector<Piece> pieces_;  ///< class after class
};

}  // namespace muster::boa

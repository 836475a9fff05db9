#include "schedulers/boa/width_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "model/check.hpp"
#include "schedulers/boa/width_search.hpp"

// At a price of GPU-hours each class has a best path over (epoch, width) of its own: staying at a
// width costs the epoch's time and GPU-hours, changing it a start besides. As the price rises paths
// become cheaper and slower, so that bisection finds the lowest price that keeps the budget.

namespace muster::boa {
namespace {

/// Halvings of the interval of prices: its ends differ in the last digits of a double after these.
constexpr int kHalvings = 60;
/// GPU-hours that are worth an hour less of a job, at the most: beyond it paths are the cheapest.
constexpr double kHighestPrice = 1e6;
/// Changes by which what one price leaves over is spent, at the most.
constexpr int kMostChanges = 32;
/// Of all jobs' time, a change that saves less is none.
constexpr double kLeastSaving = 1e-6;
/// What is cheaper is free: of widths that take the same time the least is enough.
constexpr double kLowestPrice = 1e-9;

struct Path {
  std::vector<std::uint32_t> widths;
  JobFigures figures;
};

/// What an epoch takes at a width.
JobFigures epoch_at(const EpochWork& epoch, std::uint32_t width) {
  const double hours = epoch.gpu_h / epoch.speedup[width - 1];
  return {hours, hours * width};
}

JobFigures figures_of(const ClassWork& work, const std::vector<std::uint32_t>& widths) {
  JobFigures sum;
  std::uint32_t before = 0;
  for (std::size_t epoch = 0; epoch < widths.size(); ++epoch) {
    const JobFigures own = epoch_at(work.epochs[epoch], widths[epoch]);
    const double start_h = widths[epoch] != before ? work.rescale_h : 0;
    sum.hours += own.hours + start_h;
    sum.gpu_h += own.gpu_h + start_h * widths[epoch];
    before = widths[epoch];
  }
  return sum;
}

/// The path of least weight x hours + price x GPU-hours. Of equal ones that of fewer workers.
Path best_path(const ClassWork& work, double price) {
  const std::size_t epochs = work.epochs.size();
  const std::size_t most = work.epochs.front().speedup.size();
  // least[w]: of the paths that end at width w + 1 in the epoch that was looked at last.
  std::vector<double> least(most, 0);
  std::vector<std::vector<std::uint32_t>> from(epochs, std::vector<std::uint32_t>(most));
  for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
    const auto best =
        static_cast<std::uint32_t>(std::min_element(least.begin(), least.end()) - least.begin());
    std::vector<double> next(most);
    for (std::uint32_t w = 0; w < most; ++w) {
      const JobFigures own = epoch_at(work.epochs[epoch], w + 1);
      const double start = work.rescale_h * (work.weight + price * (w + 1));
      const double changed = (epoch == 0 ? 0 : least[best]) + start;
      const bool stays = epoch > 0 && least[w] <= changed;
      from[epoch][w] = stays ? w : best;
      next[w] = (stays ? least[w] : changed) + work.weight * own.hours + price * own.gpu_h;
    }
    least = std::move(next);
  }
  Path path{std::vector<std::uint32_t>(epochs), {}};
  auto at =
      static_cast<std::uint32_t>(std::min_element(least.begin(), least.end()) - least.begin());
  for (std::size_t epoch = epochs; epoch-- > 0;) {
    path.widths[epoch] = at + 1;
    at = from[epoch][at];
  }
  path.figures = figures_of(work, path.widths);
  return path;
}

/// All classes at one price.
struct Choice {
  std::vector<Path> paths;
  double hours = 0;  ///< sum of rate x weight x hours
  double gpus = 0;
};

Choice choose(const std::vector<ClassWork>& classes, double price) {
  Choice choice;
  for (const ClassWork& work : classes) {
    const Path& path = choice.paths.emplace_back(best_path(work, price));
    choice.hours += work.jobs_per_h * work.weight * path.figures.hours;
    choice.gpus += work.jobs_per_h * path.figures.gpu_h;
  }
  return choice;
}

WidthPlan plan_of(const std::vector<ClassWork>& classes, Choice choice) {
  WidthPlan plan;
  double hours = 0;
  double jobs_per_h = 0;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    hours += classes[c].jobs_per_h * choice.paths[c].figures.hours;
    jobs_per_h += classes[c].jobs_per_h;
    plan.widths.push_back(std::move(choice.paths[c].widths));
    plan.jobs.push_back(choice.paths[c].figures);
  }
  if (jobs_per_h > 0) plan.mean_jct_h = hours / jobs_per_h;
  const double weighted = weighted_rate(classes);
  if (weighted > 0) plan.weighted_jct_h = choice.hours / weighted;
  plan.cost_gpus = choice.gpus;
  return plan;
}

WidthPath runs_of(const std::vector<std::uint32_t>& widths) {
  WidthPath path;
  for (std::size_t epoch = 0; epoch < widths.size(); ++epoch) {
    if (path.empty() || path.back().width != widths[epoch]) {
      path.push_back({epoch, epoch, widths[epoch]});
    }
    path.back().end = epoch + 1;
  }
  return path;
}

/// One price leaves a part of the budget over: the class that jumps at it would take more than
/// that. It is spent on smaller changes, each time on the one that saves most of all jobs' time.
void spend_the_rest(const std::vector<ClassWork>& classes, double budget_gpus, Choice& choice) {
  std::vector<RunFigures> figures;
  figures.reserve(classes.size());
  for (const ClassWork& work : classes) figures.emplace_back(work);
  for (int change = 0; change < kMostChanges; ++change) {
    const double spare = budget_gpus - choice.gpus;
    double most_saved = 0;
    std::size_t where = 0;
    WidthPath best;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const double rate = classes[c].jobs_per_h;
      const double weighted = rate * classes[c].weight;
      if (weighted <= 0) continue;
      WidthPath path = best_change(figures[c], runs_of(choice.paths[c].widths), spare / rate);
      const double saved = weighted * (choice.paths[c].figures.hours - figures[c].of(path).hours);
      if (saved <= most_saved) continue;
      most_saved = saved;
      where = c;
      best = std::move(path);
    }
    if (most_saved <= kLeastSaving * choice.hours) return;
    Path& changed = choice.paths[where];
    const JobFigures before = changed.figures;
    for (const WidthRun& run : best) {
      std::fill(changed.widths.begin() + static_cast<std::ptrdiff_t>(run.begin),
                changed.widths.begin() + static_cast<std::ptrdiff_t>(run.end), run.width);
    }
    changed.figures = figures_of(classes[where], changed.widths);
    const double rate = classes[where].jobs_per_h;
    choice.hours += rate * classes[where].weight * (changed.figures.hours - before.hours);
    choice.gpus += rate * (changed.figures.gpu_h - before.gpu_h);
  }
}

}  // namespace

double weighted_rate(const std::vector<ClassWork>& classes) {
  double rate = 0;
  for (const ClassWork& work : classes) {
    MUSTER_CHECK(!work.epochs.empty() && !work.epochs.front().speedup.empty(),
                 "a class has epochs, and they have speedups");
    rate += work.jobs_per_h * work.weight;
  }
  return rate;
}

WidthPlan cheapest_widths(const std::vector<ClassWork>& classes) {
  WidthPlan plan = plan_of(classes, choose(classes, kHighestPrice));
  plan.least_gpus = plan.cost_gpus;
  return plan;
}

Expected<WidthPlan, WidthError> plan_widths(const std::vector<ClassWork>& classes,
                                            double budget_gpus) {
  const double weighted = weighted_rate(classes);
  Choice kept = choose(classes, kHighestPrice);
  const double least_gpus = kept.gpus;
  if (least_gpus > budget_gpus) {
    return Failure<WidthError>{WidthError::over_budget,
                               "the jobs need " + std::to_string(least_gpus) +
                                   " GPUs on average at least, and the budget leaves them " +
                                   std::to_string(budget_gpus)};
  }
  double low = 0;
  double high = kHighestPrice;
  double bound = 0;
  if (Choice free = choose(classes, kLowestPrice); free.gpus <= budget_gpus) {
    kept = std::move(free);
    bound = kept.hours;
    high = 0;
  }
  for (int i = 0; i < kHalvings && high > low; ++i) {
    // Prices of interest differ by orders of magnitude.
    const double price = low > 0 ? std::sqrt(low * high) : high * 1e-3;
    if (price < kLowestPrice) break;
    Choice tried = choose(classes, price);
    // What the budget leaves over is worth its price to nobody: the Lagrangian bound.
    bound = std::max(bound, tried.hours + price * (tried.gpus - budget_gpus));
    if (tried.gpus <= budget_gpus) {
      high = price;
      if (tried.hours <= kept.hours) kept = std::move(tried);
    } else {
      low = price;
    }
  }
  spend_the_rest(classes, budget_gpus, kept);
  WidthPlan plan = plan_of(classes, std::move(kept));
  plan.least_gpus = least_gpus;
  if (weighted > 0) plan.lower_bound_jct_h = bound / weighted;
  return plan;
}

}  // namespace muster::boa

#include "schedulers/boa/width_plan.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "model/check.hpp"
#include "schedulers/boa/price_search.hpp"
#include "schedulers/boa/width_search.hpp"

// At a price of GPU-hours each class has a best path over (epoch, width) of its own: staying at a
// width costs the epoch's time and GPU-hours, changing it a start besides. As the price rises paths
// become cheaper and slower. Of a choice that keeps the budget and one that does not, the price at
// which both are worth equally much has a choice between them, or shows that there is no such
// choice.

namespace muster::boa {
namespace {

/// Changes by which what one price leaves over is spent, at the most.
constexpr int kMostChanges = 32;
/// Of all jobs' time, a change that saves less does not count.
constexpr double kLeastSaving = 1e-6;

struct Path {
  std::vector<std::uint32_t> widths;
  JobFigures figures;
};

JobFigures figures_of(const ClassWork& work, const std::vector<std::uint32_t>& widths) {
  JobFigures sum;
  std::uint32_t before = 0;
  for (std::size_t epoch = 0; epoch < widths.size(); ++epoch) {
    const std::uint32_t width = widths[epoch];
    double hours = work.epochs[epoch].gpu_h / work.epochs[epoch].speedup[width - 1];
    if (width != before) hours += work.rescale_h;
    sum.hours += hours;
    sum.gpu_h += hours * width;
    before = width;
  }
  return sum;
}

std::size_t least_at(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin());
}

/// Finds the best paths of a class, price by price.
class PathFinder {
 public:
  explicit PathFinder(const ClassWork& work);

  /// The path of least weight x hours + price x GPU-hours. Of equal ones that of fewer workers.
  Path at(double price);

 private:
  const ClassWork* work_;
  std::size_t most_;                   ///< widths
  std::vector<double> hours_;          ///< by epoch, then by width
  std::vector<double> worth_;          ///< by width: of an hour, at the price of the moment
  std::vector<double> least_;          ///< by width: of the paths that end at it, up to an epoch
  std::vector<std::uint8_t> stays_;    ///< by epoch, then by width: it is that of the epoch before
  std::vector<std::size_t> cheapest_;  ///< by epoch: where the best path up to the one before ends
};

PathFinder::PathFinder(const ClassWork& work)
    : work_(&work),
      most_(work.epochs.front().speedup.size()),
      worth_(most_),
      least_(most_),
      stays_(most_ * work.epochs.size()),
      cheapest_(work.epochs.size()) {
  hours_.reserve(stays_.size());
  for (const EpochWork& epoch : work.epochs) {
    for (const double speedup : epoch.speedup) hours_.push_back(epoch.gpu_h / speedup);
  }
}

Path PathFinder::at(double price) {
  const std::size_t epochs = work_->epochs.size();
  for (std::size_t w = 0; w < most_; ++w) {
    worth_[w] = work_->weight + price * static_cast<double>(w + 1);
    least_[w] = worth_[w] * (work_->rescale_h + hours_[w]);
  }
  for (std::size_t epoch = 1; epoch < epochs; ++epoch) {
    const double* hours = &hours_[epoch * most_];
    std::uint8_t* stays = &stays_[epoch * most_];
    cheapest_[epoch] = least_at(least_);
    const double best = least_[cheapest_[epoch]];
    for (std::size_t w = 0; w < most_; ++w) {
      const double changed = best + work_->rescale_h * worth_[w];
      stays[w] = least_[w] <= changed ? 1 : 0;
      least_[w] = std::min(least_[w], changed) + worth_[w] * hours[w];
    }
  }
  Path path{std::vector<std::uint32_t>(epochs), {}};
  std::size_t at = least_at(least_);
  for (std::size_t epoch = epochs; epoch-- > 0;) {
    path.widths[epoch] = static_cast<std::uint32_t>(at + 1);
    if (epoch > 0 && stays_[epoch * most_ + at] == 0) at = cheapest_[epoch];
  }
  path.figures = figures_of(*work_, path.widths);
  return path;
}

/// All classes at one price.
struct Choice {
  std::vector<Path> paths;
  double hours = 0;  ///< sum of rate x weight x hours
  double cost = 0;   ///< GPUs
};
using Neighbours = ChoiceNeighbours<Choice>;

/// Data that all prices share.
class Chooser {
 public:
  explicit Chooser(const std::vector<ClassWork>& classes)
      : classes_(&classes), finders_(classes.begin(), classes.end()) {}

  Choice at(double price) {
    Choice choice;
    for (std::size_t c = 0; c < finders_.size(); ++c) {
      const ClassWork& work = (*classes_)[c];
      const Path& path = choice.paths.emplace_back(finders_[c].at(price));
      choice.hours += work.jobs_per_h * work.weight * path.figures.hours;
      choice.cost += work.jobs_per_h * path.figures.gpu_h;
    }
    return choice;
  }

 private:
  const std::vector<ClassWork>* classes_;
  std::vector<PathFinder> finders_;
};

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
  plan.cost_gpus = choice.cost;
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
    const double spare = budget_gpus - choice.cost;
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
    choice.cost += rate * (changed.figures.gpu_h - before.gpu_h);
  }
}

/// Both choices are worth equally much at their price, class by class. So what is left over is
/// spent on the faster paths, on the last of them by a share of the class's jobs.
std::optional<SharedWidths> share_the_rest(const std::vector<ClassWork>& classes,
                                           double budget_gpus, Neighbours& found) {
  Choice& choice = found.within;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    Path& own = choice.paths[c];
    const Path& faster = found.over.paths[c];
    const double rate = classes[c].jobs_per_h;
    const double more_gpus = rate * (faster.figures.gpu_h - own.figures.gpu_h);
    if (more_gpus <= 0) continue;
    const double share = std::min(1.0, (budget_gpus - choice.cost) / more_gpus);
    if (share <= 0) return std::nullopt;
    const double less_h = share * (own.figures.hours - faster.figures.hours);
    own.figures.hours -= less_h;
    own.figures.gpu_h += share * more_gpus / rate;
    choice.hours -= rate * classes[c].weight * less_h;
    choice.cost += share * more_gpus;
    if (share < 1) return SharedWidths{c, share, faster.widths};
    own.widths = faster.widths;
  }
  return std::nullopt;
}

/// The rest of a budget after one price has been found goes to `spend`, which may change the result
/// within the budget.
template <class Spend>
Expected<WidthPlan, WidthError> plan_with(const std::vector<ClassWork>& classes, double budget_gpus,
                                          const Spend& spend) {
  const double weighted = weighted_rate(classes);
  Chooser chooser(classes);
  Choice cheapest = chooser.at(kHighestPrice);
  const double least_gpus = cheapest.cost;
  if (least_gpus > budget_gpus) {
    return Failure<WidthError>{WidthError::over_budget,
                               "the jobs need " + std::to_string(least_gpus) +
                                   " GPUs on average at least, and the budget leaves them " +
                                   std::to_string(budget_gpus)};
  }
  Neighbours found = neighbours_of(chooser, budget_gpus, std::move(cheapest));
  std::optional<SharedWidths> shared = spend(found);
  WidthPlan plan = plan_of(classes, std::move(found.within));
  plan.shared = std::move(shared);
  plan.least_gpus = least_gpus;
  if (weighted > 0) plan.lower_bound_jct_h = found.bound / weighted;
  return plan;
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
  WidthPlan plan = plan_of(classes, Chooser(classes).at(kHighestPrice));
  plan.least_gpus = plan.cost_gpus;
  return plan;
}

Expected<WidthPlan, WidthError> plan_widths(const std::vector<ClassWork>& classes,
                                            double budget_gpus) {
  return plan_with(classes, budget_gpus, [&](Neighbours& found) {
    spend_the_rest(classes, budget_gpus, found.within);
    return std::optional<SharedWidths>();
  });
}

Expected<WidthPlan, WidthError> share_widths(const std::vector<ClassWork>& classes,
                                             double budget_gpus) {
  return plan_with(classes, budget_gpus,
                   [&](Neighbours& found) { return share_the_rest(classes, budget_gpus, found); });
}

}  // namespace muster::boa

#include "schedulers/boa/typed_plan.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "schedulers/boa/price_search.hpp"

// At a price of a dollar each class has a best path over (epoch, type, width): staying costs the
// epoch, another width of the same type a start besides, another type a cold one.

namespace muster::boa {
namespace {

/// Of what a job costs: at the price of a plan a way may be worth as much as the planned one, which
/// is taken then. A difference that is less is rounding.
constexpr double kEven = 1e-9;

/// A class on one path.
struct TypedPath {
  std::vector<TypedWidth> widths;
  double hours = 0;
  double usd = 0;
  std::vector<double> gpu_h;  ///< by type
};

/// Finds the best paths of a class, price by price.
class TypedPathFinder {
 public:
  TypedPathFinder(const ClassWork& class_work, const TypedWork& work)
      : class_(class_work),
        types_(work.types),
        cold_h_(std::max(work.cold_h, class_work.rescale_h)),
        most_(class_work.epochs.front().speedup.size()),
        ways_(most_ * types_.size()) {}

  /// The path of least weight x hours + price x dollars. Of equal ones that of the first type, and
  /// of fewer workers.
  TypedPath at(double price);

 private:
  TypedWidth way(std::size_t w) const {
    return {static_cast<std::uint32_t>(w / most_), static_cast<std::uint32_t>(w % most_ + 1)};
  }
  double hours(std::size_t epoch, std::size_t w) const {
    const EpochWork& work = class_.epochs[epoch];
    return work.gpu_h / work.speedup[w % most_] / types_[w / most_].speed;
  }
  std::size_t best_of_type(const std::vector<double>& least, std::size_t type) const {
    const auto begin = least.begin() + static_cast<std::ptrdiff_t>(type * most_);
    const auto end = begin + static_cast<std::ptrdiff_t>(most_);
    return static_cast<std::size_t>(std::min_element(begin, end) - least.begin());
  }
  void step(std::size_t epoch, std::vector<double>& least);
  TypedPath walk_back(std::size_t last) const;

  const ClassWork& class_;
  const std::vector<GpuType>& types_;
  double cold_h_;
  std::size_t most_;                    ///< widths
  std::size_t ways_;                    ///< types x widths
  std::vector<double> worth_;           ///< by way: of an hour, at the price of the moment
  std::vector<std::size_t> come_from_;  ///< by epoch, then by way: the way of the epoch before
};

TypedPath TypedPathFinder::at(double price) {
  worth_.resize(ways_);
  come_from_.resize(ways_ * class_.epochs.size());
  std::vector<double> least(ways_);
  for (std::size_t w = 0; w < ways_; ++w) {
    const TypedWidth each = way(w);
    worth_[w] = class_.weight + price * types_[each.type].usd_h * each.width;
    least[w] = worth_[w] * (class_.rescale_h + hours(0, w));
  }
  for (std::size_t epoch = 1; epoch < class_.epochs.size(); ++epoch) step(epoch, least);
  return walk_back(
      static_cast<std::size_t>(std::min_element(least.begin(), least.end()) - least.begin()));
}

void TypedPathFinder::step(std::size_t epoch, std::vector<double>& least) {
  std::vector<std::size_t> best;  // by type
  for (std::size_t type = 0; type < types_.size(); ++type) {
    best.push_back(best_of_type(least, type));
  }
  const auto any = *std::ranges::min_element(best, {}, [&](std::size_t w) { return least[w]; });
  std::vector<double> next(ways_);
  for (std::size_t w = 0; w < ways_; ++w) {
    const std::size_t sibling = best[w / most_];
    const double warm = least[sibling] + class_.rescale_h * worth_[w];
    const double cold = least[any] + cold_h_ * worth_[w];
    std::size_t from = w;
    double value = least[w];
    if (warm < value) std::tie(from, value) = std::pair{sibling, warm};
    if (cold < value) std::tie(from, value) = std::pair{any, cold};
    come_from_[epoch * ways_ + w] = from;
    next[w] = value + worth_[w] * hours(epoch, w);
  }
  least = std::move(next);
}

TypedPath TypedPathFinder::walk_back(std::size_t last) const {
  TypedPath path;
  path.widths.resize(class_.epochs.size());
  path.gpu_h.resize(types_.size());
  std::size_t w = last;
  for (std::size_t epoch = class_.epochs.size(); epoch-- > 0;) {
    const TypedWidth here = path.widths[epoch] = way(w);
    double held = hours(epoch, w);
    const std::size_t before = epoch > 0 ? come_from_[epoch * ways_ + w] : w;
    if (epoch == 0) {
      held += class_.rescale_h;
    } else if (before != w) {
      held += way(before).type == here.type ? class_.rescale_h : cold_h_;
    }
    path.hours += held;
    path.gpu_h[here.type] += held * here.width;
    path.usd += held * here.width * types_[here.type].usd_h;
    w = before;
  }
  return path;
}

/// The jobs of one class at one price, on a path that begins anywhere.
class PathCosts {
 public:
  PathCosts(const ClassWork& class_work, const TypedWork& work, double price)
      : class_(class_work), work_(work), price_(price) {}

  double worth(const TypedWidth& way) const {
    return class_.weight + price_ * work_.types[way.type].usd_h * way.width;
  }
  double of_epoch(std::size_t epoch, const TypedWidth& way) const {
    const EpochWork& each = class_.epochs[epoch];
    return worth(way) * each.gpu_h / each.speedup[way.width - 1] / work_.types[way.type].speed;
  }
  double of_warm_start(const TypedWidth& way) const { return class_.rescale_h * worth(way); }
  double of_cold_start(const TypedWidth& way) const {
    return std::max(work_.cold_h, class_.rescale_h) * worth(way);
  }
  /// By epoch: all the later ones, with the changes on the way there.
  std::vector<double> afterwards(const std::vector<TypedWidth>& path) const {
    std::vector<double> rest(path.size());
    for (std::size_t epoch = path.size() - 1; epoch > 0; --epoch) {
      const TypedWidth& here = path[epoch];
      const TypedWidth& before = path[epoch - 1];
      rest[epoch - 1] = rest[epoch] + of_epoch(epoch, here);
      if (before == here) continue;
      rest[epoch - 1] += before.type == here.type ? of_warm_start(here) : of_cold_start(here);
    }
    return rest;
  }

 private:
  const ClassWork& class_;
  const TypedWork& work_;
  double price_;
};

/// By epoch and type. A job that stays has the widths of the best path that never leaves the type.
std::vector<std::vector<TypeStay>> stays_of(const ClassWork& class_work, const TypedWork& work,
                                            double price, const std::vector<TypedWidth>& planned) {
  const PathCosts costs(class_work, work, price);
  const std::vector<double> planned_rest = costs.afterwards(planned);
  std::vector<std::vector<TypeStay>> stays(planned.size());
  for (std::uint32_t type = 0; type < work.types.size(); ++type) {
    const std::vector<GpuType> only{work.types[type]};
    const TypedWork alone{work.classes, only, work.cold_h};
    std::vector<TypedWidth> own = TypedPathFinder(class_work, alone).at(price).widths;
    for (TypedWidth& each : own) each.type = type;
    const std::vector<double> own_rest = costs.afterwards(own);
    for (std::size_t epoch = 0; epoch < planned.size(); ++epoch) {
      const double in_epoch =
          costs.of_epoch(epoch, own[epoch]) - costs.of_epoch(epoch, planned[epoch]);
      const double later = own_rest[epoch] * (1 + kEven) - planned_rest[epoch] -
                           costs.of_cold_start(planned[epoch]) +
                           kEven * costs.of_epoch(epoch, own[epoch]);
      stays[epoch].push_back({own[epoch].width, costs.of_warm_start(own[epoch]), in_epoch, later});
    }
  }
  return stays;
}

/// All classes at one price.
struct TypedChoice {
  std::vector<TypedPath> paths;
  double hours = 0;  ///< sum of rate x weight x hours
  double cost = 0;   ///< dollars an hour
};

class TypedChooser {
 public:
  explicit TypedChooser(const TypedWork& work) : work_(work) {
    for (const ClassWork& each : work.classes) finders_.emplace_back(each, work);
  }

  TypedChoice at(double price) {
    TypedChoice choice;
    for (std::size_t c = 0; c < finders_.size(); ++c) {
      const ClassWork& each = work_.classes[c];
      const TypedPath& path = choice.paths.emplace_back(finders_[c].at(price));
      choice.hours += each.jobs_per_h * each.weight * path.hours;
      choice.cost += each.jobs_per_h * path.usd;
    }
    return choice;
  }

 private:
  const TypedWork& work_;
  std::vector<TypedPathFinder> finders_;
};

TypedWidthPlan typed_plan_of(const TypedWork& work, TypedChoice choice, double price) {
  TypedWidthPlan plan;
  plan.gpus.resize(work.types.size());
  double hours = 0, jobs_per_h = 0;
  for (std::size_t c = 0; c < work.classes.size(); ++c) {
    const double rate = work.classes[c].jobs_per_h;
    TypedPath& path = choice.paths[c];
    hours += rate * path.hours;
    jobs_per_h += rate;
    for (std::size_t type = 0; type < plan.gpus.size(); ++type) {
      plan.gpus[type] += rate * path.gpu_h[type];
    }
    plan.stays.push_back(stays_of(work.classes[c], work, price, path.widths));
    plan.widths.push_back(std::move(path.widths));
  }
  if (jobs_per_h > 0) plan.mean_jct_h = hours / jobs_per_h;
  const double weighted = weighted_rate(work.classes);
  if (weighted > 0) plan.weighted_jct_h = choice.hours / weighted;
  plan.usd_h = choice.cost;
  return plan;
}

}  // namespace

Expected<TypedWidthPlan, WidthError> plan_types(const TypedWork& work, double budget_usd_h) {
  const double weighted = weighted_rate(work.classes);
  TypedChooser chooser(work);
  TypedChoice cheapest = chooser.at(kHighestPrice);
  const double least_usd_h = cheapest.cost;
  if (least_usd_h > budget_usd_h) {
    return Failure<WidthError>{WidthError::over_budget,
                               "the jobs need $" + std::to_string(least_usd_h) +
                                   " an hour on average at least, and the budget leaves them $" +
                                   std::to_string(budget_usd_h)};
  }
  auto found = neighbours_of(chooser, budget_usd_h, std::move(cheapest));
  TypedWidthPlan plan = typed_plan_of(work, std::move(found.within), found.price);
  plan.least_usd_h = least_usd_h;
  if (weighted > 0) plan.lower_bound_jct_h = found.bound / weighted;
  return plan;
}

TypedWidthPlan cheapest_types(const TypedWork& work) {
  TypedWidthPlan plan = typed_plan_of(work, TypedChooser(work).at(kHighestPrice), kHighestPrice);
  plan.least_usd_h = plan.usd_h;
  return plan;
}

}  // namespace muster::boa

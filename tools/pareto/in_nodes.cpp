#include "tools/pareto/in_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "schedulers/boa/class_work.hpp"
#include "tools/pareto/budget_search.hpp"

namespace muster::pareto {
namespace {

using boa::PlanKind;
using boa::WidthPlan;

/// Budgets for which plans are made, and the first step above the least of them, of it. Steps grow
/// by the same factor: the curve is steep where the budget is little more than the load.
constexpr int kPlans = 160;
constexpr double kFirstStep = 1e-3;
/// Halvings between two neighbours.
constexpr int kHalvings = 10;

/// Time and use of a job of a class, but for its starts, where its growth waits for instances.
struct Course {
  double hours = 0;
  double used_gpu_h = 0;
  double ordered_gpus = 0;
};

/// Follows a job through its epochs, where instances are ready that time after they are ordered.
Course course_of(const boa::ClassWork& of_class, std::span<const std::uint32_t> widths,
                 double ready_h) {
  Course course;
  std::uint32_t held = 0;
  std::uint32_t awaited = 0;  // the width that it has when its instances are ready
  double left_h = 0;          // until then
  const auto go_on = [&](double hours) {
    course.hours += hours;
    course.used_gpu_h += hours * held;
    left_h = std::max(0.0, left_h - hours);
    if (left_h <= 0) held = awaited;
  };
  for (std::size_t epoch = 0; epoch < widths.size(); ++epoch) {
    const std::uint32_t width = widths[epoch];
    const boa::EpochWork& work = of_class.epochs[epoch];
    if (width > std::max(held, awaited)) {
      course.ordered_gpus += width - std::max(held, awaited);
      awaited = width;
      left_h = ready_h;
    } else {
      // Instances ordered beyond that are given back, and so are those that are held.
      awaited = width;
      held = std::min(held, width);
      if (held == width) left_h = 0;
    }
    if (left_h <= 0) held = awaited;
    if (held == 0) go_on(left_h);
    double gpu_h = work.gpu_h;
    if (left_h > 0) {
      const double meanwhile_h = std::min(left_h, gpu_h / work.speedup[held - 1]);
      gpu_h = std::max(0.0, gpu_h - meanwhile_h * work.speedup[held - 1]);
      go_on(meanwhile_h);
    }
    if (gpu_h > 0) go_on(gpu_h / work.speedup[held - 1]);
  }
  return course;
}

/// Additional use where instances have to be waited for.
struct Growth {
  double wait_h = 0;
  double used_gpu_h = 0;
  double ordered_gpus = 0;
};

Growth growth_of(const LoadClass& of_class, std::span<const std::uint32_t> widths) {
  // Without instances that have to be waited for it is what the plan counts.
  const Course planned = course_of(of_class.work, widths, 0);
  const Course course = course_of(of_class.work, widths, of_class.acquire_h + of_class.setup_h);
  return {course.hours - planned.hours, course.used_gpu_h - planned.used_gpu_h,
          course.ordered_gpus};
}

Growth mix(const Growth& one, const Growth& other, double share) {
  return {std::lerp(one.wait_h, other.wait_h, share),
          std::lerp(one.used_gpu_h, other.used_gpu_h, share),
          std::lerp(one.ordered_gpus, other.ordered_gpus, share)};
}

/// Effect of instances on a plan.
InNodes in_nodes(const ElasticLoad& load, const WidthPlan& plan) {
  InNodes made;
  double wait_h = 0;
  double weighted_wait_h = 0;
  double usd_h = 0;
  double dearest_usd_h = 0;
  std::uint32_t holds = 1;
  for (std::size_t c = 0; c < load.classes.size(); ++c) {
    const LoadClass& each = load.classes[c];
    Growth growth = growth_of(each, plan.widths[c]);
    if (plan.shared && plan.shared->work_class == c) {
      growth = mix(growth, growth_of(each, plan.shared->widths), plan.shared->share);
    }
    const double rate = each.work.jobs_per_h;
    const double used = rate * (plan.jobs[c].gpu_h + growth.used_gpu_h);
    made.used_gpus += used;
    made.starting_gpus += rate * growth.ordered_gpus * (each.acquire_h + each.setup_h);
    // An instance is billed from when it is up.
    usd_h += (used + rate * growth.ordered_gpus * each.setup_h) * each.worker_usd_h;
    dearest_usd_h = std::max(dearest_usd_h, each.worker_usd_h);
    wait_h += rate * growth.wait_h;
    weighted_wait_h += rate * each.work.weight * growth.wait_h;
    holds = std::max(holds, each.node_holds);
  }
  made.remainder_gpus = (holds - 1) / 2.0;
  made.rented_gpus = made.used_gpus + made.starting_gpus + made.remainder_gpus;
  made.rented_gpu_h = made.rented_gpus * load.hours;
  made.usd = (usd_h + made.remainder_gpus * dearest_usd_h) * load.hours;
  made.mean_jct_s = (plan.mean_jct_h + wait_h / load.jobs_per_h()) * 3600;
  made.weighted_jct_s =
      (plan.weighted_jct_h + weighted_wait_h / boa::weighted_rate(load.work())) * 3600;
  return made;
}

}  // namespace

InNodes in_nodes_at(const ElasticLoad& load, PlanKind kind, double planned_gpus) {
  const std::vector<boa::ClassWork> work = load.work();
  const auto plan = boa::plan_by(kind, work, planned_gpus);
  return in_nodes(load, plan ? plan.value() : boa::cheapest_widths(work));
}

NodePlans::NodePlans(const ElasticLoad& load, PlanKind kind)
    : load_(load), kind_(kind), work_(load.work()) {
  const double least = boa::cheapest_widths(work_).cost_gpus;
  const double factor =
      std::pow(ample_budget(work_, kind) / least / kFirstStep, 1.0 / (kPlans - 1));
  double step = kFirstStep;
  for (int i = 0; i < kPlans; ++i, step *= factor) {
    planned_.push_back(i == 0 ? least : least * (1 + step));
    made_.push_back(made_for(planned_.back()));
  }
}

std::optional<InNodes> NodePlans::made_for(double planned_gpus) const {
  const auto plan = boa::plan_by(kind_, work_, planned_gpus);
  if (!plan) return std::nullopt;
  return in_nodes(load_, plan.value());
}

template <class WillDo>
std::optional<InNodes> NodePlans::least_of_those(const WillDo& will_do, double InNodes::*figure,
                                                 Beside beside) const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < made_.size(); ++i) {
    if (!made_[i] || !will_do(*made_[i])) continue;
    if (!found || (*made_[i]).*figure < (*made_[*found]).*figure) found = i;
  }
  if (!found) return std::nullopt;
  InNodes best = *made_[*found];
  const bool is_last = beside == Beside::next ? *found + 1 == made_.size() : *found == 0;
  if (is_last) return best;
  double good = planned_[*found];
  double other = planned_[beside == Beside::next ? *found + 1 : *found - 1];
  for (int i = 0; i < kHalvings; ++i) {
    const double between = (good + other) / 2;
    const auto made = made_for(between);
    const bool better = made && will_do(*made) && (*made).*figure <= best.*figure;
    if (better) best = *made;
    (better ? good : other) = between;
  }
  return best;
}

std::optional<InNodes> NodePlans::within(double budget_gpus) const {
  const auto fits = [&](const InNodes& made) { return made.rented_gpus <= budget_gpus; };
  return least_of_those(fits, &InNodes::weighted_jct_s, Beside::next);
}

std::optional<InNodes> NodePlans::cheapest(double target_s) const {
  const auto is_soon = [&](const InNodes& made) { return made.weighted_jct_s <= target_s; };
  return least_of_those(is_soon, &InNodes::rented_gpus, Beside::previous);
}

}  // namespace muster::pareto

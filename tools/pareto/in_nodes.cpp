#include "tools/pareto/in_nodes.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/boa/class_work.hpp"
#include "tools/pareto/budget_search.hpp"

namespace muster::pareto {
namespace {

using boa::PlanKind;
using boa::WidthPlan;

/// Halvings of the search for the GPUs that jobs have: to a millionth of the budget.
constexpr int kHalvings = 20;

/// What a job's growth from epoch to epoch takes besides its plan.
struct Growth {
  double wait_h = 0;    ///< that the job lasts longer
  double launched = 0;  ///< GPUs of instances that are ordered
  double used_h = 0;    ///< GPU-hours that the job has more, or less, than planned
};

Growth growth_of(const LoadClass& of_class, std::span<const std::uint32_t> widths) {
  const double ready_h = of_class.acquire_h + of_class.setup_h;
  Growth growth;
  std::uint32_t held = 0;
  for (std::size_t epoch = 0; epoch < widths.size(); ++epoch) {
    const std::uint32_t width = widths[epoch];
    if (width > held) {
      const std::vector<double>& speedup = of_class.work.epochs[epoch].speedup;
      const double share = held == 0 ? 0 : speedup[held - 1] / speedup[width - 1];
      growth.wait_h += ready_h * (1 - share);
      growth.launched += width - held;
      // What is done meanwhile at the lesser width need not be done at the greater one.
      growth.used_h += ready_h * (held - share * width);
    }
    held = width;
  }
  return growth;
}

Growth mix(const Growth& one, const Growth& other, double share) {
  const auto between = [share](double a, double b) { return a + share * (b - a); };
  return {between(one.wait_h, other.wait_h), between(one.launched, other.launched),
          between(one.used_h, other.used_h)};
}

/// What becomes of a plan in instances.
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
    const double used = rate * (plan.jobs[c].gpu_h + growth.used_h);
    made.used_gpus += used;
    made.starting_gpus += rate * growth.launched * (each.acquire_h + each.setup_h);
    // An instance is billed from when it is up.
    usd_h += (used + rate * growth.launched * each.setup_h) * each.worker_usd_h;
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

std::optional<InNodes> predict_in_nodes(const ElasticLoad& load, double budget_gpus,
                                        PlanKind kind) {
  const std::vector<boa::ClassWork> work = load.work();
  // Plans of greater budgets are wider and rent more, but for steps of single widths: the search
  // ends at a plan that fits, whether or not another one does as well.
  std::optional<InNodes> found;
  double fits = 0;
  double too_much = budget_gpus;
  for (int i = 0; i < kHalvings; ++i) {
    const double planned = i == 0 ? budget_gpus : (fits + too_much) / 2;
    const auto plan = boa::plan_by(kind, work, planned);
    if (plan) {
      const InNodes made = in_nodes(load, plan.value());
      if (made.rented_gpus > budget_gpus) {
        too_much = planned;
        continue;
      }
      found = made;
      if (i == 0) break;  // nothing starts and nothing is left over
    }
    fits = planned;  // or is below what any plan needs
  }
  return found;
}

std::optional<InNodes> cheapest_in_nodes(const ElasticLoad& load, double target_s, PlanKind kind) {
  const std::vector<boa::ClassWork> work = load.work();
  const auto planned_for = [&](double planned) -> std::optional<InNodes> {
    const auto plan = boa::plan_by(kind, work, planned);
    if (!plan) return std::nullopt;
    return in_nodes(load, plan.value());
  };
  const auto is_enough = [&](double planned) {
    const auto made = planned_for(planned);
    return made && made->weighted_jct_s <= target_s;
  };
  const double ample = ample_budget(work, kind);
  if (!is_enough(ample)) return std::nullopt;
  return planned_for(least_of(ample, is_enough));
}

}  // namespace muster::pareto

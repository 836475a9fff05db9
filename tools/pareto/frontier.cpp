#include "tools/pareto/frontier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <string_view>
#include <utility>

#include "schedulers/boa/class_work.hpp"
#include "schedulers/boa/gpu_types.hpp"
#include "schedulers/boa/typed_plan.hpp"
#include "schedulers/registry.hpp"
#include "tools/pareto/budget_search.hpp"

namespace muster::pareto {
namespace {

using boa::PlanKind;
using boa::WidthPlan;

Prediction prediction_of(const ElasticLoad& load, const WidthPlan& plan) {
  Prediction made;
  made.gpus = plan.cost_gpus;
  made.gpu_h = plan.cost_gpus * load.hours;
  for (std::size_t c = 0; c < load.classes.size(); ++c) {
    const LoadClass& each = load.classes[c];
    made.usd_h += each.work.jobs_per_h * plan.jobs[c].gpu_h * each.worker_usd_h;
  }
  made.usd = made.usd_h * load.hours;
  made.mean_jct_s = plan.mean_jct_h * 3600;
  made.weighted_jct_s = plan.weighted_jct_h * 3600;
  made.bound_jct_s = plan.lower_bound_jct_h * 3600;
  return made;
}

std::optional<Prediction> predict(const ElasticLoad& load, const std::vector<boa::ClassWork>& work,
                                  double budget_gpus, PlanKind kind) {
  const auto plan = boa::plan_by(kind, work, budget_gpus);
  if (!plan) return std::nullopt;
  return prediction_of(load, plan.value());
}

}  // namespace

double least_budget(const ElasticLoad& load, PlanKind plan) {
  const std::vector<boa::ClassWork> work = load.work();
  if (plan != PlanKind::glue) return boa::cheapest_widths(work).cost_gpus;
  return least_of(ample_budget(work, plan),
                  [&](double budget) { return boa::plan_by(plan, work, budget).has_value(); });
}

Frontier predict_frontier(const ElasticLoad& load, const std::vector<double>& budgets_gpus,
                          PlanKind plan) {
  Frontier frontier;
  frontier.least_gpus = least_budget(load, plan);
  const std::vector<boa::ClassWork> work = load.work();
  const NodePlans nodes(load, plan);
  for (const double budget : budgets_gpus) {
    frontier.points.push_back({budget, predict(load, work, budget, plan), nodes.within(budget)});
  }
  return frontier;
}

void predict_types(const ElasticLoad& load, Duration cold_start, Frontier& frontier) {
  const std::vector<boa::ClassWork> work = load.work();
  const boa::TypePlanner one(work, {load.types.front()});
  const boa::TypePlanner all(work, load.types);
  for (FrontierPoint& point : frontier.points) {
    const double usd_h = point.budget_gpus * load.types.front().usd_h;
    const auto alone = one.plan(usd_h);
    const auto any = all.plan(usd_h);
    if (!alone || !any) continue;
    point.typed = TypedPrediction{
        usd_h, alone->weighted_jct_h * 3600, any->weighted_jct_h * 3600, any->gpus, {}, {}};
    const auto started = boa::plan_types({work, load.types, to_seconds(cold_start) / 3600}, usd_h);
    if (!started) continue;
    point.typed->started_jct_s = started->weighted_jct_h * 3600;
    point.typed->started_gpus = started->gpus;
  }
}

std::vector<std::size_t> spread_over(const Frontier& frontier, std::size_t count) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < frontier.points.size(); ++i) {
    if (frontier.points[i].predicted) kept.push_back(i);
  }
  if (count >= kept.size()) return kept;
  std::vector<std::size_t> spread;
  for (std::size_t i = 0; i < count; ++i) {
    // The first and the last included; of one the middle.
    const std::size_t at = count == 1 ? kept.size() / 2 : i * (kept.size() - 1) / (count - 1);
    spread.push_back(kept[at]);
  }
  return spread;
}

Expected<FrontierPoint, NoBudget> cheapest_budget(const ElasticLoad& load, double target_s,
                                                  PlanKind plan) {
  const std::vector<boa::ClassWork> work = load.work();
  const auto is_enough = [&](double budget) {
    const auto made = predict(load, work, budget, plan);
    return made && made->weighted_jct_s <= target_s;
  };
  const double ample = ample_budget(work, plan);
  if (!is_enough(ample)) {
    const auto best = predict(load, work, ample, plan);
    return Failure<NoBudget>{
        NoBudget::below_all,
        fmt::format("no budget gives a mean JCT of {:.1f} s: however many GPUs there are, jobs "
                    "take {:.1f} s on average",
                    target_s, best ? best->weighted_jct_s : 0)};
  }
  FrontierPoint found{least_of(ample, is_enough)};
  found.predicted = predict(load, work, found.budget_gpus, plan);
  return found;
}

namespace {

/// The replay's behaviour for a budget below the cheapest widths.
std::string_view done_instead(bool rents) {
  return rents ? ", and GPUs for these are rented" : "";
}

std::string usd_shortfall(const ElasticLoad& load, const boa::BoaParams& params, bool rents) {
  if (load.types.empty()) return {};
  const std::vector<boa::ClassWork> work = load.work();
  const double least =
      boa::cheapest_types({work, load.types, to_seconds(params.cold_start) / 3600}).usd_h;
  if (params.budget_usd_h >= least) return {};
  return fmt::format(
      "a budget of ${:g} an hour cannot be kept: the cheapest types and widths need ${:.3f}; jobs "
      "get these{}",
      params.budget_usd_h, least, done_instead(rents));
}

/// Jobs have their least share of the budget, or what costs least, however much is rented in nodes
/// that start. By how much it is overspent is not said: where nodes take hours that is predicted
/// within a factor of three only.
std::string shortfall_in_nodes(const ElasticLoad& load, const boa::BoaParams& params) {
  if (params.counts == boa::BudgetCounts::used) return {};
  const InNodes made = in_nodes_at(load, params.plan, params.budget_gpus * boa::kLeastShare);
  if (made.rented_gpus <= params.budget_gpus) return {};
  return fmt::format(
      "a budget of {:g} GPUs is predicted to be overspent: jobs have {:.1f} GPUs of it at the "
      "least, and starting nodes and unused parts of nodes take more than the other {:.1f}",
      params.budget_gpus, made.used_gpus, std::max(0.0, params.budget_gpus - made.used_gpus));
}

std::string shortfall_of(const ElasticLoad& load, const boa::BoaParams& params, bool rents) {
  if (params.budget_usd_h > 0) return usd_shortfall(load, params, rents);
  const double least = least_budget(load, params.plan);
  if (params.budget_gpus >= least) return rents ? shortfall_in_nodes(load, params) : std::string();
  return fmt::format(
      "a budget of {:g} GPUs cannot be kept: the load is {:.2f} GPUs, and the cheapest widths need "
      "{:.3f}; jobs get these{}",
      params.budget_gpus, load.load_gpus(), least, done_instead(rents));
}

}  // namespace

std::vector<std::string> budget_faults(const PolicySpec& policy, const replay::JobSource& jobs,
                                       const Catalog& catalog, bool rents) {
  const auto module = find_module(policy.name);
  if (!module) return {};
  const auto read = module.value()->read(policy);
  const auto* params = read ? std::any_cast<boa::BoaParams>(&read.value()) : nullptr;
  if (params == nullptr) return {};
  std::vector<std::string> faults = misnamed_classes(jobs, *params);
  const auto load = elastic_load(jobs, catalog, *params);
  if (!load) {
    if (load.error().code == NoFrontier::no_elastic_jobs && faults.empty()) {
      faults.emplace_back("the workload has no elastic jobs: the budget has no effect");
    }
    return faults;
  }
  std::string shortfall = shortfall_of(load.value(), *params, rents);
  if (!shortfall.empty()) faults.push_back(std::move(shortfall));
  return faults;
}

}  // namespace muster::pareto

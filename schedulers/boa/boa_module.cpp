#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>

#include "schedulers/boa/boa_policy.hpp"
#include "schedulers/describe.hpp"

namespace muster {

using boa::ArrivalRules;
using boa::BoaParams;
using boa::BudgetCounts;
using boa::PlanKind;
using boa::SpeedSource;

namespace {

constexpr double kMostGpus = 1'000'000;
constexpr double kLongestPlan_s = 604800;
/// An instance that is kept empty longer than half a day is kept for another day's jobs, and a
/// replay, which ends a day after its last job, would not see it given back.
constexpr double kLongestEmpty_s = 43200;
/// Shorter ones would count a job as hundreds an hour.
constexpr double kShortestWindow_s = 60;
/// Of a class's weight: beyond these a class would be planned for as if others were not there.
constexpr double kLeastWeight = 0.001;
constexpr double kMostWeight = 1000;

/// The number of a text "class:number"; nothing when the text has another form.
std::optional<double> number_of(const std::string& entry) {
  const std::size_t colon = entry.find(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  double number = 0;
  const char* end = entry.data() + entry.size();
  const auto [rest, fault] = std::from_chars(entry.data() + colon + 1, end, number);
  return rest == end && fault == std::errc() ? std::optional(number) : std::nullopt;
}

/// The fault of the stated rates and weights; empty when they are right.
std::string fault_of(const BoaParams& params) {
  for (const std::string& entry : params.arrivals.stated) {
    const auto rate = number_of(entry);
    if (rate && *rate >= 0 && *rate <= kMostGpus) continue;
    return "rates_h has \"" + entry +
           "\", which is no class:jobs of 0 to 1000000 jobs, such as cifar10:10.1";
  }
  if (params.budget_usd_h > 0 && params.plan != PlanKind::path) {
    return "budget_usd_h goes with plan=path, which alone plans for several types";
  }
  if (params.budget_usd_h > 0 && params.speedups == SpeedSource::learned) {
    return "budget_usd_h goes with speedups=oracle: the speed that a worker shows on one type of "
           "GPU says nothing of another type";
  }
  for (const std::string& entry : params.weights) {
    const auto weight = number_of(entry);
    if (weight && *weight >= kLeastWeight && *weight <= kMostWeight) continue;
    return "weights has \"" + entry +
           "\", which is no class:weight from 0.001 to 1000, such as bert:2";
  }
  for (const auto* entries : {&params.arrivals.stated, &params.weights}) {
    std::set<std::string> named;
    for (const std::string& entry : *entries) {
      const std::string name = entry.substr(0, entry.find(':'));
      if (named.insert(name).second) continue;
      return (entries == &params.weights ? "weights" : "rates_h") + std::string(" names \"") +
             name + "\" twice";
    }
  }
  return {};
}

/// Parameters that are given and would have no effect; empty without such ones.
std::string given_in_vain(const PolicySpec& spec) {
  const auto given = [&](const char* name) -> std::optional<double> {
    const auto found =
        std::ranges::find(spec.params, name, [](const auto& each) { return each.first; });
    if (found == spec.params.end()) return std::nullopt;
    const std::string& text = found->second;
    double number = 0;
    // A text that is not a number is refused where it is read.
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  };
  const auto is_more = [&](const char* name) { return given(name).value_or(0) > 0; };
  const bool states_rates = std::ranges::any_of(spec.params, [](const auto& each) {
    return each.first == "rates_h" && each.second.find(':') != std::string::npos;
  });
  if (is_more("budget") && is_more("budget_usd_h")) {
    return "budget and budget_usd_h are given: it has to be one of them, budget for GPUs of one "
           "type or budget_usd_h for dollars an hour";
  }
  if (is_more("load_before") && states_rates) {
    return "load_before and rates_h are given: with rates that are stated nothing is taken to have "
           "been before; leave one of them out";
  }
  if (given("before_s") && (given("load_before") == 0.0 || states_rates)) {
    return "before_s has no effect unless load_before is set: leave it out";
  }
  return {};
}

}  // namespace

PolicyModule boa_module() {
  return describe<BoaParams>("boa",
                             "BOA Constrictor: elastic jobs are as wide as makes their mean time "
                             "least at a budget of GPUs")
      .param("budget", &BoaParams::budget_gpus, params::number(params::above(0).up_to(kMostGpus)),
             "GPUs that jobs may have on average, or that may be rented; several masters have the "
             "same share of it each")
      .divided("budget")
      .param("budget_usd_h", &BoaParams::budget_usd_h,
             params::number(params::from(0).up_to(kMostGpus)),
             "budget in dollars an hour instead of GPUs, for all types on offer; 0: no such budget")
      .divided("budget_usd_h")
      .param("cold_start_s", &BoaParams::cold_start,
             params::in_seconds(params::from(0).up_to(kLongestPlan_s)),
             "time that a start takes on GPUs of another type than before, where it is longer")
      .param("budget_counts", &BoaParams::counts,
             params::choice<BudgetCounts>(
                 {{"rented", BudgetCounts::rented}, {"used", BudgetCounts::used}}),
             "GPUs that count against the budget: all rented ones, or those that jobs hold")
      .param("plan", &BoaParams::plan,
             params::choice<PlanKind>(
                 {{"path", PlanKind::path}, {"share", PlanKind::share}, {"glue", PlanKind::glue}}),
             "how widths are planned: the best path of each class at one price (path), with two "
             "paths for one class (share), or by the paper's Algorithm 1 (glue)")
      .param("speedups", &BoaParams::speedups,
             params::choice<SpeedSource>(
                 {{"oracle", SpeedSource::oracle}, {"learned", SpeedSource::learned}}),
             "source of jobs' speeds by width: the jobs' statements, or the speeds measured in "
             "their class")
      .param("rescales", &BoaParams::rescales, params::flag(),
             "widths are planned with what it costs to change them")
      .param("keep_empty_s", &BoaParams::keep_empty,
             params::in_seconds(params::from(0).up_to(kLongestEmpty_s)),
             "how long an empty node is kept for the next job")
      .param("empties_nodes", &BoaParams::empties_nodes, params::flag(),
             "move the jobs of a node that is not full onto others, so that it can be given back, "
             "where that is worth their starts")
      .param("recompute_s", &BoaParams::recompute,
             params::in_seconds(params::above(0).up_to(kLongestPlan_s)),
             "time between two width plans")
      .param("window_s", in(&BoaParams::arrivals, &ArrivalRules::window),
             params::in_seconds(params::from(kShortestWindow_s).up_to(kLongestPlan_s)),
             "time window in which the arrivals of each class are counted")
      .param("load_before", in(&BoaParams::arrivals, &ArrivalRules::load_before),
             params::number(params::from(0).up_to(1)),
             "assumed load during before_s before the first job, as a share of the budget; 0: only "
             "jobs since then count")
      .param("before_s", in(&BoaParams::arrivals, &ArrivalRules::before),
             params::in_seconds(params::from(0).up_to(kLongestPlan_s)),
             "the time before the first job to which load_before applies, at most window_s")
      .param("rates_h", in(&BoaParams::arrivals, &ArrivalRules::stated), params::list(),
             "arrivals an hour by class, class:jobs joined by +; a class that is not named is "
             "assumed not to arrive; none: arrivals are counted")
      .param("weights", &BoaParams::weights, params::list(),
             "weight of a class's job hours in the mean that is minimised, class:weight joined by "
             "+; default: 1")
      .period(&BoaParams::period)
      .param("eager", &BoaParams::eager, params::flag(),
             "hold a round at once when a job comes, enters another epoch or leaves, too")
      .check_given(given_in_vain)
      .check(fault_of)
      .uses({.throughput = true, .prices = true})
      .made_by([](const BoaParams& params, const Catalog&) {
        return std::make_unique<boa::BoaPolicy>(params);
      });
}

}  // namespace muster

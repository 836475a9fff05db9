#include <charconv>

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

/// What is wrong with the rates that are stated; empty when nothing is.
std::string fault_of(const BoaParams& params) {
  for (const std::string& entry : params.arrivals.stated) {
    const std::size_t colon = entry.find(':');
    double rate = 0;
    const char* end = entry.data() + entry.size();
    const bool read = colon != std::string::npos && colon > 0 &&
                      std::from_chars(entry.data() + colon + 1, end, rate).ptr == end;
    if (!read || !(rate >= 0) || rate > kMostGpus) {
      return "rates_h has \"" + entry + "\", which is no class:jobs, such as cifar10:10.1";
    }
  }
  return {};
}

}  // namespace

PolicyModule boa_module() {
  return describe<BoaParams>("boa",
                             "BOA Constrictor: elastic jobs are as wide as makes their mean time "
                             "least at a budget of GPUs")
      .param("budget", &BoaParams::budget_gpus, params::number(params::above(0).up_to(kMostGpus)),
             "GPUs that jobs may have on average, or that may be rented")
      .param("budget_counts", &BoaParams::counts,
             params::choice<BudgetCounts>(
                 {{"rented", BudgetCounts::rented}, {"used", BudgetCounts::used}}),
             "what the budget is held against: what is rented, or what jobs have of it")
      .param("plan", &BoaParams::plan,
             params::choice<PlanKind>({{"path", PlanKind::path}, {"glue", PlanKind::glue}}),
             "how widths are planned: the best path of each class at one price, or the paper's "
             "Algorithm 1")
      .param("speedups", &BoaParams::speedups,
             params::choice<SpeedSource>(
                 {{"oracle", SpeedSource::oracle}, {"learned", SpeedSource::learned}}),
             "how fast jobs are at which width: what they state, where they state it, or what jobs "
             "of their class have shown")
      .param("rescales", &BoaParams::rescales, params::flag(),
             "widths are planned with what it costs to change them")
      .param("recompute_s", &BoaParams::recompute,
             params::in_seconds(params::above(0).up_to(kLongestPlan_s)), "between two width plans")
      .param("window_s", in(&BoaParams::arrivals, &ArrivalRules::window),
             params::in_seconds(params::above(0).up_to(kLongestPlan_s)),
             "over which the arrivals of each class are counted")
      .param("rates_h", in(&BoaParams::arrivals, &ArrivalRules::stated), params::list(),
             "arrivals an hour by class, class:jobs joined by +; none: they are counted")
      .period(&BoaParams::period)
      .param("eager", &BoaParams::eager, params::flag(),
             "hold a round at once when a job comes, enters another epoch or leaves, too")
      .check(fault_of)
      .uses({.throughput = true, .prices = true})
      .made_by([](const BoaParams& params, const Catalog&) {
        return std::make_unique<boa::BoaPolicy>(params);
      });
}

}  // namespace muster

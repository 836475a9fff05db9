#include "schedulers/boa/run_options.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "model/check.hpp"

namespace muster::boa {
namespace {

/// Time saved for a unit of cost.
double saving(const RunOption& from, const RunOption& to) {
  return (from.time - to.time) / (to.cost - from.cost);
}

}  // namespace

std::vector<RunOption> efficient_options(std::vector<RunOption> options) {
  std::sort(options.begin(), options.end(), [](const RunOption& a, const RunOption& b) {
    return std::tie(a.cost, a.time, a.type, a.width) < std::tie(b.cost, b.time, b.type, b.width);
  });
  std::vector<RunOption> hull;
  for (const RunOption& option : options) {
    if (!hull.empty() && option.time >= hull.back().time) continue;
    while (hull.size() >= 2 &&
           saving(hull[hull.size() - 2], hull.back()) <= saving(hull.back(), option)) {
      hull.pop_back();
    }
    hull.push_back(option);
  }
  return hull;
}

std::vector<RunOption> efficient_options(const SpeedupHull& hull) {
  std::vector<RunOption> options;
  for (const HullVertex& vertex : hull.vertices()) {
    options.push_back({1 / vertex.speedup, vertex.width / vertex.speedup, vertex.width, 0});
  }
  return efficient_options(std::move(options));
}

BudgetSpender::BudgetSpender(std::vector<PairLoad> pairs) : pairs_(std::move(pairs)) {
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const PairLoad& pair = pairs_[p];
    MUSTER_CHECK(!pair.options.empty(), "a pair can be run in some way");
    least_cost_ += pair.load * pair.options.front().cost;
    slowest_ += pair.load * pair.weight * pair.options.front().time;
    if (pair.load <= 0 || pair.weight <= 0) continue;
    for (std::size_t to = 1; to < pair.options.size(); ++to) {
      steps_.push_back({pair.weight * saving(pair.options[to - 1], pair.options[to]), p, to, 0, 0});
    }
  }
  // The steps of a pair get worse one after the other; the order of equal ones is theirs, too.
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const Step& a, const Step& b) { return a.price > b.price; });
  double time = slowest_;
  double cost = least_cost_;
  for (Step& step : steps_) {
    const PairLoad& pair = pairs_[step.pair];
    const RunOption& from = pair.options[step.to - 1];
    const RunOption& to = pair.options[step.to];
    step.time_after = time -= pair.load * pair.weight * (from.time - to.time);
    step.cost_after = cost += pair.load * (to.cost - from.cost);
  }
}

double BudgetSpender::most_cost() const {
  return steps_.empty() ? least_cost_ : steps_.back().cost_after;
}

Expected<Allocation, WidthError> BudgetSpender::spend(double budget) const {
  if (!(least_cost_ <= budget)) {
    return Failure<WidthError>{WidthError::over_budget,
                               "the jobs need " + std::to_string(least_cost_) +
                                   " of the budget at least, which is " + std::to_string(budget)};
  }
  Allocation allocation;
  allocation.chosen.resize(pairs_.size());
  allocation.time = slowest_;
  allocation.cost = least_cost_;
  for (const Step& step : steps_) {
    allocation.price = step.price;
    if (step.cost_after > budget) {
      const double share = (budget - allocation.cost) / (step.cost_after - allocation.cost);
      if (share > 0) {
        allocation.split = {step.pair, share};
        allocation.time += share * (step.time_after - allocation.time);
        allocation.cost = budget;
      }
      return allocation;
    }
    allocation.chosen[step.pair] = step.to;
    allocation.time = step.time_after;
    allocation.cost = step.cost_after;
  }
  allocation.price = 0;
  return allocation;
}

}  // namespace muster::boa

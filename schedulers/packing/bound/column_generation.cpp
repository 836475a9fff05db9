#include "schedulers/packing/bound/column_generation.hpp"

#include <algorithm>
#include <utility>

#include "schedulers/packing/bound/divided_bound.hpp"
#include "schedulers/packing/bound/pattern_cover.hpp"
#include "schedulers/packing/bound/search_items.hpp"

namespace muster::bound {
namespace {

/// Nodes of the searches that only have to find something; the others have to prove that there is
/// nothing more.
constexpr std::uint64_t kQuickNodes = 2'000;
/// One search may take this share of all nodes, so that it leaves some to the others.
constexpr std::uint64_t kSearchShare = 5;

class ColumnGeneration {
 public:
  ColumnGeneration(const FluidProblem& problem, const FluidLimits& limits)
      : problem_(problem), limits_(limits), cover_(problem), proof_(divided_bound(problem)) {
    result_.divided = true;
    for (const Pattern& pattern : limits.start) cover_.add(pattern);
  }

  FluidBound run() {
    bool quick = true;
    while (result_.rounds < limits_.rounds) {
      ++result_.rounds;
      solution_ = cover_.solve();
      // Where the solver gave up its prices are prices nevertheless, and prove as much.
      const std::size_t before = cover_.patterns().size();
      look_for_patterns(quick);
      if (limits_.progress) limits_.progress({result_.rounds, proof_.usd, solution_.cost});
      if (proved() || (!quick && cover_.patterns().size() == before)) break;
      if (result_.nodes >= limits_.nodes) break;
      // A round of quick searches that finds nothing is followed by one of thorough ones.
      quick = cover_.patterns().size() != before;
    }
    return finish();
  }

 private:
  void look_for_patterns(bool quick) {
    const std::vector<double>& prices = solution_.duals;
    // Farley: at prices that are this much lower no pattern is worth more than it costs.
    double scale = 1;
    for (std::uint32_t type = 0; type < problem_.types.size(); ++type) {
      const std::uint64_t left = limits_.nodes - std::min(limits_.nodes, result_.nodes);
      const std::uint64_t most = quick ? kQuickNodes : limits_.nodes / kSearchShare;
      const std::uint64_t nodes = std::min(most, left);
      const TypeFinds finds = find_patterns(problem_, type, prices, nodes, quick);
      result_.nodes += finds.nodes;
      scale = std::min(scale, problem_.types[type].usd_h / finds.most_usd_h);
      for (const FoundPattern& found : finds.patterns) cover_.add(found.pattern);
    }
    double usd = 0;
    for (std::size_t i = 0; i < prices.size(); ++i) {
      usd += prices[i] * scale * problem_.kinds[i].work_h;
    }
    usd *= 1 - kRounding;
    if (usd <= proof_.usd) return;
    result_.divided = false;
    proof_.usd = usd;
    proof_.usd_per_work_h = prices;
    for (double& price : proof_.usd_per_work_h) price *= scale;
  }

  bool proved() const {
    return solution_.optimal && proof_.usd >= solution_.cost * (1 - limits_.exact);
  }

  /// Of the patterns of the result. Work beyond the need is not counted.
  double stretch() const {
    std::vector<double> task_h(problem_.kinds.size()), work_h(problem_.kinds.size());
    for (const PatternHours& rented : result_.patterns) {
      for (const std::uint32_t kind : rented.pattern.kinds) task_h[kind] += rented.hours;
      for (const KindWork& work : work_of(problem_, rented.pattern)) {
        work_h[work.kind] += rented.hours * work.work_h;
      }
    }
    double taken = 0;
    double needed = 0;
    for (std::size_t i = 0; i < problem_.kinds.size(); ++i) {
      const double need = problem_.kinds[i].work_h;
      if (work_h[i] > 0) taken += task_h[i] / work_h[i] * need;
      needed += need;
    }
    return taken / needed;
  }

  FluidBound finish() {
    result_.bound_usd = proof_.usd;
    result_.usd_per_work_h = proof_.usd_per_work_h;
    result_.reached_usd = solution_.cost;
    result_.exact = proved();
    const std::vector<Pattern>& columns = cover_.patterns();
    for (std::size_t i = 0; i < solution_.activity.size(); ++i) {
      const double hours = solution_.activity[i];
      if (hours <= 0) continue;
      result_.patterns.push_back(
          {columns[i], hours, hours * problem_.types[columns[i].type].usd_h});
    }
    result_.stretch = stretch();
    std::stable_sort(result_.patterns.begin(), result_.patterns.end(),
                     [](const PatternHours& a, const PatternHours& b) { return a.usd > b.usd; });
    result_.columns = columns;
    return std::move(result_);
  }

  const FluidProblem& problem_;
  const FluidLimits& limits_;
  PatternCover cover_;
  LpSolution solution_;
  Proof proof_;
  FluidBound result_;
};

}  // namespace

FluidBound solve_fluid(const FluidProblem& problem, const FluidLimits& limits) {
  if (problem.kinds.empty()) {
    FluidBound nothing;
    nothing.exact = true;
    return nothing;
  }
  return ColumnGeneration(problem, limits).run();
}

}  // namespace muster::bound

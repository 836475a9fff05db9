#include "schedulers/packing/bound/undisturbed_search.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/schedulers/packing/bound/small_problems.hpp"
#include "tests/schedulers/packing/bound/whole_problems.hpp"

namespace muster::bound {
namespace {

/// The most that a pattern is worth that has no kind more often than it may.
double best_within(const FluidProblem& problem, std::uint32_t type,
                   const std::vector<double>& prices) {
  double best = 0;
  for (const Pattern& pattern : test::all_patterns(problem, type)) {
    const bool allowed = std::ranges::all_of(pattern.kinds, [&](std::uint32_t kind) {
      return std::ranges::count(pattern.kinds, kind) <= problem.kinds[kind].most;
    });
    if (allowed) best = std::max(best, value_of(problem, pattern, prices));
  }
  return best;
}

RC_GTEST_PROP(UndisturbedSearchProperty, finds_the_best_pattern_that_heeds_the_counts, ()) {
  const FluidProblem problem = test::arbitrary_hosting();
  const std::vector<double> prices = test::arbitrary_prices(problem);
  for (std::uint32_t type = 0; type < problem.types.size(); ++type) {
    const TypeFinds finds = find_patterns(problem, type, prices, 1'000'000);
    RC_ASSERT(finds.complete);
    const double best = best_within(problem, type, prices);
    const double enough = problem.types[type].usd_h * (1 + kGain);
    RC_ASSERT(finds.most_usd_h <= std::max(best, enough) * (1 + 1e-9));
    RC_ASSERT(finds.most_usd_h >= best * (1 - 1e-9));
    if (best <= enough * (1 + 1e-9)) continue;
    RC_ASSERT(!finds.patterns.empty());
    RC_ASSERT(finds.patterns[0].value_usd_h >= best * (1 - 1e-9));
  }
}

RC_GTEST_PROP(UndisturbedSearchProperty, claims_no_less_than_there_is_when_it_is_cut_off, ()) {
  const FluidProblem problem = test::arbitrary_hosting();
  const std::vector<double> prices = test::arbitrary_prices(problem);
  const auto nodes = static_cast<std::uint64_t>(*rc::gen::inRange(1, 10));
  for (std::uint32_t type = 0; type < problem.types.size(); ++type) {
    const TypeFinds finds = find_patterns(problem, type, prices, nodes);
    RC_ASSERT(finds.most_usd_h >= best_within(problem, type, prices) * (1 - 1e-9));
  }
}

RC_GTEST_PROP(FindNear, gives_every_full_pattern_within_the_slack, ()) {
  const FluidProblem problem = test::arbitrary_hosting();
  const std::vector<double> prices = test::arbitrary_prices(problem);
  const double slack = *rc::gen::inRange(0, 300) / 100.0;
  for (std::uint32_t type = 0; type < problem.types.size(); ++type) {
    const NearPatterns near = find_near(problem, type, prices, slack, 10'000, 1'000'000);
    RC_ASSERT(near.complete);
    for (const Pattern& pattern : near.patterns) RC_ASSERT(fits(problem, pattern));
    const auto allowed = [&](const Pattern& pattern) {
      return fits(problem, pattern) && std::ranges::all_of(pattern.kinds, [&](std::uint32_t kind) {
               return std::ranges::count(pattern.kinds, kind) <= problem.kinds[kind].most;
             });
    };
    const auto is_full = [&](Pattern pattern) {
      for (std::uint32_t kind = 0; kind < problem.kinds.size(); ++kind) {
        pattern.kinds.push_back(kind);
        if (allowed(pattern)) return false;
        pattern.kinds.pop_back();
      }
      return true;
    };
    for (const Pattern& pattern : test::all_patterns(problem, type)) {
      const double lacks = problem.types[type].usd_h - value_of(problem, pattern, prices);
      if (!allowed(pattern) || !is_full(pattern) || lacks >= slack) continue;
      RC_ASSERT(std::ranges::count(near.patterns, pattern) == 1);
    }
  }
}

}  // namespace
}  // namespace muster::bound

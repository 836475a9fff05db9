#include "schedulers/packing/bound/pattern_search.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/schedulers/packing/bound/small_problems.hpp"

namespace muster::bound {
namespace {

using test::Small;

constexpr double kSlack = 1e-9;
constexpr std::uint64_t kEnough = 1'000'000;

/// The value of the best find; 0 without one.
double best_of(const TypeFinds& finds) {
  double best = 0;
  for (const FoundPattern& found : finds.patterns) best = std::max(best, found.value_usd_h);
  return best;
}

/// All that has to be true of any search.
void hold(const FluidProblem& problem, const std::vector<double>& prices, const TypeFinds& finds,
          std::uint32_t type) {
  const double best = test::best_by_trying(problem, type, prices);
  RC_ASSERT(finds.most_usd_h >= best * (1 - kSlack));
  for (const FoundPattern& found : finds.patterns) {
    RC_ASSERT(fits(problem, found.pattern));
    RC_ASSERT(std::is_sorted(found.pattern.kinds.begin(), found.pattern.kinds.end()));
    const double value = value_of(problem, found.pattern, prices);
    RC_ASSERT(std::abs(value - found.value_usd_h) <= kSlack * value);
    RC_ASSERT(value > problem.types[type].usd_h);
  }
}

RC_GTEST_PROP(PatternSearchProperty, finds_what_trying_everything_finds, ()) {
  const FluidProblem problem = test::arbitrary_problem();
  const std::vector<double> prices = test::arbitrary_prices(problem);
  const bool spread = *rc::gen::arbitrary<bool>();
  for (std::uint32_t type = 0; type < problem.types.size(); ++type) {
    const TypeFinds finds = find_patterns(problem, type, prices, kEnough, spread);
    RC_ASSERT(finds.complete);
    hold(problem, prices, finds, type);
    const double best = test::best_by_trying(problem, type, prices);
    const double enough = problem.types[type].usd_h * (1 + kGain);
    // Nothing is claimed that is not there, and nothing that is there is missed.
    RC_ASSERT(finds.most_usd_h <= std::max(best, enough) * (1 + kSlack));
    if (best > enough * (1 + kSlack)) RC_ASSERT(best_of(finds) >= best * (1 - kSlack));
  }
}

RC_GTEST_PROP(PatternSearchProperty, claims_no_less_than_there_is_when_it_is_cut_off, ()) {
  const FluidProblem problem = test::arbitrary_problem();
  const std::vector<double> prices = test::arbitrary_prices(problem);
  const auto nodes = static_cast<std::uint64_t>(*rc::gen::inRange(1, 40));
  for (std::uint32_t type = 0; type < problem.types.size(); ++type) {
    const TypeFinds finds =
        find_patterns(problem, type, prices, nodes, *rc::gen::arbitrary<bool>());
    hold(problem, prices, finds, type);
  }
}

TEST(PatternSearch, TakesAsManyAsPayForTheirLoss) {
  // 0.9 each for every neighbour: n tasks are worth n x 0.9^(n-1), the most at 9 and 10 of them.
  const FluidProblem problem = Small(64, 3, 1, 0.9).kind(1, 1).problem();
  const TypeFinds finds = find_patterns(problem, 0, {1}, kEnough);
  ASSERT_FALSE(finds.patterns.empty());
  EXPECT_TRUE(finds.complete);
  EXPECT_NEAR(best_of(finds), 10 * std::pow(0.9, 9), 1e-9);
}

TEST(PatternSearch, FindsPatternsOfManyTasksToo) {
  // Three in a hundred lost for each neighbour: the best number of tasks is beyond those counted.
  const FluidProblem problem = Small(64, 3, 1, 0.97).kind(1, 1).problem();
  const TypeFinds finds = find_patterns(problem, 0, {1}, kEnough);
  EXPECT_TRUE(finds.complete);
  EXPECT_NEAR(best_of(finds), 33 * std::pow(0.97, 32), 1e-9);
}

TEST(PatternSearch, FillsAnInstanceWhereNobodySlowsAnybody) {
  const FluidProblem problem = Small(100, 3).kind(3, 1).kind(7, 1).problem();
  const TypeFinds finds = find_patterns(problem, 0, {0.3, 0.75}, kEnough);
  EXPECT_TRUE(finds.complete);
  EXPECT_NEAR(best_of(finds), 13 * 0.75 + 3 * 0.3, 1e-9);  // 13 x 7 + 3 x 3 = 100
}

TEST(PatternSearch, FindsNothingThatIsNotWorthItsPrice) {
  const FluidProblem problem = Small(4, 1).kind(1, 1).problem();
  EXPECT_TRUE(find_patterns(problem, 0, {0.25}, kEnough).patterns.empty());
  EXPECT_DOUBLE_EQ(find_patterns(problem, 0, {0.25}, kEnough).most_usd_h, 1 + kGain);
  EXPECT_EQ(find_patterns(problem, 0, {0.26}, kEnough).patterns.size(), 1u);
}

TEST(PatternSearch, GivesTheBestOfEachNumberWhenAskedTo) {
  const FluidProblem problem = Small(3, 0.5, 1, 0.9).kind(1, 1).problem();
  const TypeFinds finds = find_patterns(problem, 0, {1}, kEnough, true);
  ASSERT_EQ(finds.patterns.size(), 3u);
  for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(finds.patterns[n].pattern.kinds.size(), n + 1);
}

TEST(PatternSearch, SaysWhenItWasCutOff) {
  Small small(60, 1, 1, 0.99);
  std::vector<double> prices;
  for (int i = 1; i < 12; ++i) {
    small.kind(i, 1);
    prices.push_back(0.05 * i + 0.001 * (i % 3));
  }
  const TypeFinds finds = find_patterns(small.problem(), 0, prices, 5);
  EXPECT_FALSE(finds.complete);
  EXPECT_GE(finds.most_usd_h, best_of(find_patterns(small.problem(), 0, prices, kEnough)));
}

}  // namespace
}  // namespace muster::bound

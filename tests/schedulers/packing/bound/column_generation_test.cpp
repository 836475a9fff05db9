#include "schedulers/packing/bound/column_generation.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/schedulers/packing/bound/small_problems.hpp"

namespace muster::bound {
namespace {

using test::Small;

RC_GTEST_PROP(FluidBoundProperty, is_the_least_cost_over_all_patterns, ()) {
  const FluidProblem problem = test::arbitrary_problem();
  const FluidBound bound = solve_fluid(problem);
  const double least = test::cost_by_trying(problem);
  RC_ASSERT(bound.exact);
  RC_ASSERT(std::abs(bound.bound_usd - least) <= 2e-6 * least);
  RC_ASSERT(bound.bound_usd <= least * (1 + 1e-9));
  RC_ASSERT(bound.reached_usd >= least * (1 - 1e-9));
}

RC_GTEST_PROP(FluidBoundProperty, holds_wherever_the_search_is_cut_off, ()) {
  const FluidProblem problem = test::arbitrary_problem();
  FluidLimits limits;
  limits.nodes = static_cast<std::uint64_t>(*rc::gen::inRange(1, 50));
  limits.rounds = static_cast<std::uint32_t>(*rc::gen::inRange(1, 8));
  const FluidBound bound = solve_fluid(problem, limits);
  const double least = test::cost_by_trying(problem);
  RC_ASSERT(bound.bound_usd <= least * (1 + 1e-9));
  RC_ASSERT(bound.reached_usd >= least * (1 - 1e-7));
  if (bound.exact) RC_ASSERT(bound.bound_usd >= least * (1 - 2e-6));
}

RC_GTEST_PROP(FluidBoundProperty, is_proved_by_prices_that_no_pattern_beats, ()) {
  const FluidProblem problem = test::arbitrary_problem();
  FluidLimits limits;
  limits.nodes = static_cast<std::uint64_t>(*rc::gen::inRange(1, 500));
  const FluidBound bound = solve_fluid(problem, limits);
  double worth = 0;
  for (std::size_t i = 0; i < problem.kinds.size(); ++i) {
    worth += bound.usd_per_work_h[i] * problem.kinds[i].work_h;
  }
  RC_ASSERT(std::abs(worth - bound.bound_usd) <= 1e-9 * worth);
  for (std::uint32_t type = 0; type < problem.types.size(); ++type) {
    RC_ASSERT(test::best_by_trying(problem, type, bound.usd_per_work_h) <=
              problem.types[type].usd_h * (1 + 1e-9));
  }
}

RC_GTEST_PROP(FluidBoundProperty, is_reached_by_patterns_that_do_all_the_work, ()) {
  const FluidProblem problem = test::arbitrary_problem();
  const FluidBound bound = solve_fluid(problem);
  std::vector<double> done(problem.kinds.size());
  double usd = 0;
  for (const PatternHours& rented : bound.patterns) {
    RC_ASSERT(fits(problem, rented.pattern));
    usd += rented.hours * problem.types[rented.pattern.type].usd_h;
    for (const KindWork& work : work_of(problem, rented.pattern)) {
      done[work.kind] += rented.hours * work.work_h;
    }
  }
  RC_ASSERT(std::abs(usd - bound.reached_usd) <= 1e-6 * bound.reached_usd);
  for (std::size_t i = 0; i < done.size(); ++i) {
    RC_ASSERT(done[i] >= problem.kinds[i].work_h * (1 - 1e-6) - 1e-6);
  }
}

TEST(FluidBound, OfTasksThatShareWithoutLossIsTheirShareOfTheInstance) {
  const FluidBound bound = solve_fluid(Small(4, 2).kind(1, 40).problem());
  EXPECT_TRUE(bound.exact);
  EXPECT_NEAR(bound.bound_usd, 40 / 4 * 2, 1e-4);
  EXPECT_NEAR(bound.stretch, 1, 1e-9);
}

TEST(FluidBound, CountsWhatNeighboursCost) {
  // Two side by side at 0.9 each do 1.8 hours of work for the price of one hour.
  const FluidBound bound = solve_fluid(Small(2, 3, 1, 0.9).kind(1, 18).problem());
  EXPECT_NEAR(bound.bound_usd, 10 * 3, 1e-4);
  EXPECT_NEAR(bound.stretch, 1 / 0.9, 1e-6);
}

TEST(FluidBound, LeavesTasksAloneThatSlowEachOtherTooMuch) {
  const FluidBound bound = solve_fluid(Small(2, 3, 1, 0.4).kind(1, 18).problem());
  EXPECT_NEAR(bound.bound_usd, 18 * 3, 1e-3);
  ASSERT_EQ(bound.patterns.size(), 1u);
  EXPECT_EQ(bound.patterns[0].pattern.kinds.size(), 1u);
}

TEST(FluidBound, PairsWhatGoesWellTogether) {
  // Equals halve each other, unequals do nothing to each other.
  const FluidProblem problem =
      Small(2, 1, 2).pair(0, 0, 0.5).pair(1, 1, 0.5).kind(1, 10, 0).kind(1, 6, 1).problem();
  const FluidBound bound = solve_fluid(problem);
  EXPECT_NEAR(bound.bound_usd, 6 + 4, 1e-4);  // 6 h together, 4 h of the first alone
}

TEST(FluidBound, TakesTheTypeWhereAnHourOfWorkIsCheapest) {
  Small small(2, 1);
  small.type(8, 3).kind(2, 12);
  EXPECT_NEAR(solve_fluid(small.problem()).bound_usd, 12 / 4 * 3, 1e-4);
}

TEST(FluidBound, OfASearchThatIsCutOffAtOnceIsThatOfDividedInstances) {
  FluidLimits limits;
  limits.nodes = 1;
  const FluidProblem problem = Small(4, 2).kind(3, 12).kind(1, 1).problem();
  const FluidBound bound = solve_fluid(problem, limits);
  EXPECT_TRUE(bound.divided);
  EXPECT_FALSE(bound.exact);
  EXPECT_NEAR(bound.bound_usd, (12 * 3 + 1) * 2 / 4.0, 1e-6);
}

TEST(FluidBound, OfNoWorkIsNothing) {
  const FluidBound bound = solve_fluid(Small(4).problem());
  EXPECT_TRUE(bound.exact);
  EXPECT_EQ(bound.bound_usd, 0);
}

TEST(FluidBound, TellsOfItsProgress) {
  FluidLimits limits;
  std::vector<FluidProgress> told;
  limits.progress = [&](const FluidProgress& progress) { told.push_back(progress); };
  const FluidBound bound = solve_fluid(Small(4, 2).kind(1, 40).problem(), limits);
  ASSERT_EQ(told.size(), bound.rounds);
  for (std::size_t i = 1; i < told.size(); ++i) {
    EXPECT_GE(told[i].bound_usd, told[i - 1].bound_usd);
    EXPECT_LE(told[i].reached_usd, told[i - 1].reached_usd);
  }
}

}  // namespace
}  // namespace muster::bound

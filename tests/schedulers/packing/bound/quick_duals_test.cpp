#include "schedulers/packing/bound/quick_duals.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/schedulers/packing/bound/small_problems.hpp"

namespace muster::bound {
namespace {

using test::Small;

constexpr std::uint64_t kEnough = 1'000'000;

RC_GTEST_PROP(QuickDualsProperty, add_up_to_a_cost_that_can_be_reached, ()) {
  const FluidProblem problem = test::arbitrary_problem();
  const QuickDuals found = quick_duals(problem, kEnough);
  double worth = 0;
  double alone = 0;
  for (std::size_t i = 0; i < problem.kinds.size(); ++i) {
    worth += found.usd_per_work_h[i] * problem.kinds[i].work_h;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t type = 0; type < problem.types.size(); ++type) {
      const double speed = problem.kinds[i].on[type].speed;
      if (speed > 0) least = std::min(least, problem.types[type].usd_h / speed);
    }
    alone += least * problem.kinds[i].work_h;
  }
  RC_ASSERT(found.settled);
  RC_ASSERT(std::abs(worth - found.usd) <= 1e-6 * found.usd);
  RC_ASSERT(found.usd >= test::cost_by_trying(problem) * (1 - 1e-7));
  RC_ASSERT(found.usd <= alone * (1 + 1e-7));
}

TEST(QuickDuals, are_those_of_the_cheapest_patterns_where_tasks_fill_instances) {
  const QuickDuals found =
      quick_duals(Small(10, 10).kind(6, 1).kind(4, 1).kind(2, 2).problem(), kEnough);
  EXPECT_NEAR(found.usd, 14, 1e-6) << "6 beside 4, and two of 2 on four tenths of another one";
  EXPECT_NEAR(found.usd_per_work_h[0] + found.usd_per_work_h[1], 10, 1e-6);
  EXPECT_NEAR(found.usd_per_work_h[2], 2, 1e-6);
}

TEST(QuickDuals, make_small_tasks_as_dear_as_larger_ones_where_company_is_dear) {
  // 19 tasks beside each other do most: 19 x 0.95^18, whatever room they leave.
  const QuickDuals found =
      quick_duals(Small(192, 8.568, 1, 0.95).kind(1, 10).kind(8, 10).problem(), kEnough);
  const double least = 8.568 / (19 * std::pow(0.95, 18));
  EXPECT_NEAR(found.usd_per_work_h[0], least, 0.01 * least);
  EXPECT_NEAR(found.usd_per_work_h[1], least, 0.01 * least);
}

TEST(QuickDuals, are_prices_of_tasks_alone_where_there_is_no_time_to_look) {
  const QuickDuals found = quick_duals(Small(10, 10).kind(5, 1).problem(), 0);
  EXPECT_FALSE(found.settled);
  EXPECT_NEAR(found.usd_per_work_h[0], 10, 1e-6);
  EXPECT_TRUE(quick_duals(Small().problem(), kEnough).settled);
}

}  // namespace
}  // namespace muster::bound

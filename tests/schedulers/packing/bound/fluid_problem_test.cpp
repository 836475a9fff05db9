#include "schedulers/packing/bound/fluid_problem.hpp"

#include <gtest/gtest.h>

#include "tests/schedulers/packing/bound/small_problems.hpp"

namespace muster::bound {
namespace {

using test::Small;

TEST(Pattern, FitsWhenAllItsTasksDoTogether) {
  const FluidProblem problem = Small(4).kind(1, 1).kind(2, 1).problem();
  EXPECT_TRUE(fits(problem, {0, {0, 0, 1}}));
  EXPECT_FALSE(fits(problem, {0, {0, 1, 1}}));
}

TEST(Pattern, DoesNotFitWhereOneOfItsTasksMayNotRun) {
  const FluidProblem problem = Small(4).kind(1, 1).kind(5, 1).problem();
  EXPECT_FALSE(fits(problem, {0, {0, 1}}));
}

TEST(Pattern, WorksAtTheProductOfThePairs) {
  const FluidProblem problem = Small(4, 1, 2)
                                   .pair(0, 0, 0.9)
                                   .pair(0, 1, 0.8)
                                   .pair(1, 0, 0.5)
                                   .kind(1, 1, 0)
                                   .kind(1, 1, 1, 2)
                                   .problem();
  const std::vector<KindWork> work = work_of(problem, {0, {0, 0, 1}});
  ASSERT_EQ(work.size(), 2u);
  EXPECT_DOUBLE_EQ(work[0].work_h, 2 * 0.9 * 0.8);
  EXPECT_DOUBLE_EQ(work[1].work_h, 2 * 0.5 * 0.5);  // twice the speed, beside two
  EXPECT_DOUBLE_EQ(value_of(problem, {0, {0, 0, 1}}, {10, 1}), 10 * 1.44 + 0.5);
}

TEST(Pattern, OfOneTaskWorksAtItsSpeed) {
  const FluidProblem problem = Small(4, 1, 1, 0.5).kind(1, 1, 0, 1.5).problem();
  EXPECT_DOUBLE_EQ(work_of(problem, {0, {0}})[0].work_h, 1.5);
}

}  // namespace
}  // namespace muster::bound

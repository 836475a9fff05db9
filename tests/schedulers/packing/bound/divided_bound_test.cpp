#include "schedulers/packing/bound/divided_bound.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/schedulers/packing/bound/small_problems.hpp"

namespace muster::bound {
namespace {

using test::Small;

RC_GTEST_PROP(DividedBoundProperty, is_no_more_than_the_least_cost, ()) {
  const FluidProblem problem = test::arbitrary_problem();
  const Proof proof = divided_bound(problem);
  RC_ASSERT(proof.usd <= test::cost_by_trying(problem) * (1 + 1e-9));
  for (std::uint32_t type = 0; type < problem.types.size(); ++type) {
    RC_ASSERT(test::best_by_trying(problem, type, proof.usd_per_work_h) <=
              problem.types[type].usd_h * (1 + 1e-9));
  }
}

TEST(DividedBound, IsTheShareOfWhatIsScarce) {
  // 3 of 4 CPUs: an instance in one piece holds one task, a divided one 4/3.
  const Proof proof = divided_bound(Small(4, 2).kind(3, 12).problem());
  EXPECT_NEAR(proof.usd, 12 * 2 * 3 / 4.0, 1e-6);
}

TEST(DividedBound, TakesTheCheapestType) {
  const Proof proof = divided_bound(Small(4, 2).type(8, 3).kind(2, 16).problem());
  EXPECT_NEAR(proof.usd, 16 / 4 * 3, 1e-6);
}

}  // namespace
}  // namespace muster::bound

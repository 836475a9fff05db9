#include "schedulers/packing/bound/whole_bound.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/schedulers/packing/bound/whole_problems.hpp"

namespace muster::bound {
namespace {

constexpr double kSlack = 1e-6;
constexpr std::uint64_t kEnough = 10'000'000;

/// Each task has a seat, and each instance holds its tasks.
void hosts_all(const FluidProblem& problem, const std::vector<Pattern>& instances) {
  std::vector<std::uint64_t> seats(problem.kinds.size());
  for (const Pattern& instance : instances) {
    RC_ASSERT(fits(problem, instance));
    for (const std::uint32_t kind : instance.kinds) ++seats[kind];
  }
  for (std::size_t i = 0; i < seats.size(); ++i) RC_ASSERT(seats[i] == problem.kinds[i].tasks);
}

RC_GTEST_PROP(WholeBoundProperty, is_what_trying_everything_finds, ()) {
  const FluidProblem problem = test::arbitrary_hosting();
  const double least = test::HostingByTrying(problem).least_usd_h();
  const FluidBound divided = solve_fluid(problem);
  RC_ASSERT(divided.exact);
  RC_ASSERT(divided.bound_usd <= least * (1 + kSlack));
  const WholeBound whole = solve_whole(problem, divided, kEnough);
  RC_ASSERT(whole.exact);
  RC_ASSERT(std::abs(whole.bound_usd_h - least) <= kSlack);
  RC_ASSERT(std::abs(whole.reached_usd_h - least) <= kSlack);
  hosts_all(problem, whole.instances);
}

RC_GTEST_PROP(WholeBoundProperty, holds_when_it_is_cut_off, ()) {
  const FluidProblem problem = test::arbitrary_hosting();
  const double least = test::HostingByTrying(problem).least_usd_h();
  const auto nodes = static_cast<std::uint64_t>(*rc::gen::inRange(1, 30));
  const WholeBound whole = solve_whole(problem, solve_fluid(problem), nodes);
  RC_ASSERT(whole.bound_usd_h <= least * (1 + kSlack));
  RC_ASSERT(whole.reached_usd_h >= least * (1 - kSlack));
}

TEST(WholeBound, rents_whole_instances_where_the_divided_bound_rents_parts) {
  // Three tasks of 3 cores, two of which fit an instance of 7: one and a half instances, or two.
  FluidProblem problem;
  problem.rates = PairTable(1);
  problem.types.push_back({"seven", Resources::of(0, 7, 10), 1});
  FluidKind kind;
  kind.work_h = 3;
  kind.tasks = kind.most = 3;
  kind.on.push_back({Resources::of(0, 3, 1), 1});
  problem.kinds.push_back(kind);
  const FluidBound divided = solve_fluid(problem);
  EXPECT_NEAR(divided.bound_usd, 1.5, 1e-6);
  EXPECT_NEAR(solve_whole(problem, divided, 1000).bound_usd_h, 2, 1e-9);
}

TEST(FluidKind, comes_no_more_often_in_a_pattern_than_there_are_tasks) {
  // One task of a core on an instance of four: it is rented for it alone, not for a quarter.
  FluidProblem problem;
  problem.rates = PairTable(1);
  problem.types.push_back({"four", Resources::of(0, 4, 10), 1});
  FluidKind kind;
  kind.work_h = 1;
  kind.on.push_back({Resources::of(0, 1, 1), 1});
  problem.kinds.push_back(kind);
  EXPECT_NEAR(solve_fluid(problem).bound_usd, 0.25, 1e-6);
  problem.kinds[0].most = 1;
  EXPECT_NEAR(solve_fluid(problem).bound_usd, 1, 1e-6);
}

}  // namespace
}  // namespace muster::bound

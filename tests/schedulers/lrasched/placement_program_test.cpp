#include "schedulers/lrasched/placement_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "schedulers/lrasched/new_nodes.hpp"
#include "schedulers/lrasched/placement_bound.hpp"
#include "schedulers/lrasched/service_moves.hpp"
#include "serve/solver/cbc_solver.hpp"
#include "tests/schedulers/lrasched/placement_data.hpp"
#include "tests/schedulers/solvers.hpp"

namespace muster::lrasched {
namespace {

using test::Sample;
using ::testing::ElementsAre;

constexpr SolveLimits kLimits{100'000, 60, 0};

class SolvedSample : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Samples, SolvedSample, ::testing::Values("hand", "small-3", "small-6"));

TEST_P(SolvedSample, TheSolverPlacesTheMostAndFewNodesAreFull) {
  const std::string cbc = find_program("cbc");
  if (cbc.empty()) GTEST_SKIP() << "needs the solver CBC";
  const CbcSolver solver(cbc, SolverStop::nodes);
  Sample sample(GetParam());
  NodeRooms rooms = sample.rooms;
  Rng rng(1);
  const auto start = place_with_moves({rooms, sample.services, sample.demand, {}}, {}, rng);
  PlacementProgram program(sample.rooms, sample.services, {0.001, 0.001, 0.001});
  const auto solved = program.solve(solver, {1, 60, 0}, start);
  ASSERT_TRUE(solved) << solved.error().message;
  // Ended after one node, but not below the known solution that it began with.
  EXPECT_GE(solved.value().placed(), start.placed());
  EXPECT_LE(solved.value().placed(), sample.expected["cbc_60_cpu_s"]["best"]);
  NodeRooms after = sample.rooms;
  for (std::size_t i = 0; i < sample.services.size(); ++i) {
    for (const Spot& spot : solved.value().spots[i]) {
      after.take(spot.node, sample.services[i].size, spot.count);
    }
  }
  EXPECT_TRUE(test::is_sound(sample, solved.value(), after));
}

TEST_P(SolvedSample, BoundsAreThoseOfAnIndependentProgram) {
  Sample sample(GetParam());
  const double bound = sample.expected["lp_bound"];
  EXPECT_NEAR(bound_by_program(sample.rooms, sample.services), bound, 1e-5);
  const double best = sample.expected["cbc_60_cpu_s"]["best"];
  const double by_prices =
      bound_by_prices(sample.rooms, sample.services, static_cast<std::uint32_t>(best), 600);
  EXPECT_GE(by_prices, bound - 1e-5);
  EXPECT_LE(by_prices, 1.02 * bound);
}

TEST(PlacementBound, IsByPricesWhereTheProgramIsLarge) {
  Sample sample("small-3");
  EXPECT_EQ(placement_bound(sample.rooms, sample.services, 46, {1, 50}),
            bound_by_prices(sample.rooms, sample.services, 46, 50));
  EXPECT_EQ(placement_bound(sample.rooms, sample.services, 46, {}),
            bound_by_program(sample.rooms, sample.services));
}

TEST(PlacementProgram, RefusesAnAnswerThatBreaksRooms) {
  Sample sample("small-3");
  PlacementProgram program(sample.rooms, sample.services, {});
  const auto solved = program.solve(testing::SolverThatSays(1), kLimits,
                                    {std::vector<Spots>(50), std::vector<char>(50, 0)});
  ASSERT_FALSE(solved);
  EXPECT_EQ(solved.error().code, SolverError::nonsense);
}

TEST(PlacementProgram, PassesOnThatTheSolverHasFailed) {
  Sample sample("hand");
  PlacementProgram program(sample.rooms, sample.services, {});
  const auto solved = program.solve(testing::SolverThatSays({}), kLimits,
                                    {std::vector<Spots>(2), std::vector<char>(2, 0)});
  ASSERT_FALSE(solved);
  EXPECT_EQ(solved.error().code, SolverError::failed);
}

/// Takes down what it is asked to begin with, and says it.
class SolverThatStays final : public IntegerSolver {
 public:
  Expected<std::vector<std::uint32_t>, SolverError> solve(const IntegerProgram& program,
                                                          const SolveLimits&) const override {
    if (program.start.empty()) return Failure<SolverError>{SolverError::failed, "no start"};
    cost = cost_of(program, program.start);
    return program.start;
  }
  mutable double cost = 0;
};

TEST(PlacementProgram, BeginsWithWhatIsKnownAndCountsNodesThatKeepRoom) {
  const std::vector<Amounts> nodes{{1, 1}, {1, 1}};
  NodeRooms rooms(2, nodes);
  const std::vector<Service> services{{{0.5, 0.5}, 2, 3}};
  const std::vector<Spots> standing{{{0, 1}}};
  const PeriodPlacement known{{{{0, 3}}}, {1}};
  PlacementProgram program(rooms, services, {0.1, 0.1}, standing);
  const SolverThatStays solver;
  const auto solved = program.solve(solver, kLimits, known);
  ASSERT_TRUE(solved);
  EXPECT_THAT(solved.value().spots[0], ElementsAre(Spot{0, 3}));
  EXPECT_NEAR(solver.cost, -1 - 1.0 / 3, 1e-12);
}

TEST(NewNodesProgram, FindsTheFewestNodes) {
  const std::string cbc = find_program("cbc");
  if (cbc.empty()) GTEST_SKIP() << "needs the solver CBC";
  const CbcSolver solver(cbc, SolverStop::nodes);
  const std::vector<Amounts> nodes{{1, 1}, {2, 2}, {1, 2}};
  const std::vector<Service> services{{{0.5, 0.5}, 2, 1}, {{0.5, 1}, 2, 2}};
  NewNodesProgram program(nodes, services);
  const auto solved = program.solve(solver, kLimits, {});
  ASSERT_TRUE(solved) << solved.error().message;
  std::vector<char> used(3, 0);
  for (const Spots& spots : solved.value()) {
    EXPECT_EQ(replicas_in(spots), 2U);
    for (const Spot& spot : spots) used[spot.node] = 1;
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), 1), 2);
}

}  // namespace
}  // namespace muster::lrasched

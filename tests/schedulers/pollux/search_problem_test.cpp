#include "schedulers/pollux/search_problem.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace muster::pollux {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Three nodes of four; the job runs as two to six workers, on no more than four of one node.
SearchProblem one_job() {
  SearchProblem problem;
  problem.room = {4, 4, 4};
  SearchJob job;
  job.one_node = {1, 2, 3, 4};
  job.several = {1.5, 2.5, 3.5, 4.5, 5.5, 6.5};
  job.least = 2;
  job.most = 6;
  job.units = {1, 1, 1};
  job.current = {0, 0, 0};
  problem.jobs.push_back(job);
  return problem;
}

TEST(SearchProblem, ARowHasWorkersOnSomeOfItsNodes) {
  EXPECT_EQ(size_of(Row{0, 3, 1}).workers, 4U);
  EXPECT_EQ(size_of(Row{0, 3, 1}).nodes, 2U);
  EXPECT_EQ(size_of(Row{0, 0}).workers, 0U);
  EXPECT_EQ(size_of(Row{0, 0}).nodes, 0U);
}

TEST(SearchProblem, ASpeedupIsOfOneNodeOrOfSeveral) {
  const SearchProblem problem = one_job();
  EXPECT_EQ(problem.speedup(0, {0, 0}), 0);
  EXPECT_EQ(problem.speedup(0, {1, 1}), 1);
  EXPECT_EQ(problem.speedup(0, {4, 1}), 4);
  EXPECT_EQ(problem.speedup(0, {2, 2}), 1.5);
  EXPECT_EQ(problem.speedup(0, {7, 3}), 6.5);
}

TEST(SearchProblem, AWidthThatIsNotListedHasNoSpeed) {
  const SearchProblem problem = one_job();
  EXPECT_EQ(problem.speedup(0, {5, 1}), 0);
  EXPECT_EQ(problem.speedup(0, {8, 2}), 0);
}

TEST(SearchProblem, AWidthOutsideItsBoundsCostsInfinitelyMuch) {
  const SearchProblem problem = one_job();
  EXPECT_EQ(problem.cost(0, {1, 1}, false), kNever);
  EXPECT_LT(problem.cost(0, {2, 1}, false), kNever);
  EXPECT_LT(problem.cost(0, {6, 2}, false), kNever);
  EXPECT_EQ(problem.cost(0, {7, 2}, false), kNever);
  EXPECT_NEAR(problem.cost(0, {0, 0}, false), 1000, 1e-9) << "a job may wait whatever its bounds";
}

TEST(SearchProblem, AChangeLeavesAPartOfTheSpeed) {
  SearchProblem problem = one_job();
  problem.jobs[0].kept_by_change = 0.25;
  EXPECT_NEAR(problem.cost(0, {4, 1}, false), 1 / (1 + 1e-3), 1e-12);
  EXPECT_NEAR(problem.cost(0, {4, 1}, true), 1 / (0.25 + 1e-3), 1e-12);
}

TEST(SearchProblem, WithoutJobsThereIsNoFitnessAndWithoutWorkersNoUse) {
  SearchProblem problem = one_job();
  EXPECT_EQ(problem.utility({{0, 0, 0}}), 0);
  problem.jobs.clear();
  EXPECT_EQ(problem.fitness({}), 0);
  EXPECT_EQ(problem.utility({}), 0);
}

TEST(SearchProblem, JobsOfOneNodeEachShareItUpToItsRoom) {
  SearchProblem problem = one_job();
  problem.jobs.push_back(problem.jobs[0]);
  EXPECT_TRUE(problem.is_feasible({{2, 0, 0}, {2, 0, 0}}));
  EXPECT_FALSE(problem.is_feasible({{3, 0, 0}, {2, 0, 0}}));
  EXPECT_TRUE(problem.is_feasible({{1, 1, 0}, {0, 2, 0}})) << "one of them is on several nodes";
  EXPECT_FALSE(problem.is_feasible({{1, 1, 0}, {0, 1, 1}})) << "both are, and meet";
  EXPECT_TRUE(problem.is_feasible({{1, 1, 0}, {0, 0, 2}}));
}

TEST(SearchProblem, WorkersOfTwoUnitsTakeTwiceTheRoom) {
  SearchProblem problem = one_job();
  problem.jobs[0].units = {2, 2, 0};
  EXPECT_TRUE(problem.is_feasible({{2, 0, 0}}));
  EXPECT_FALSE(problem.is_feasible({{3, 0, 0}}));
  EXPECT_FALSE(problem.is_feasible({{0, 0, 2}})) << "the job cannot be there";
}

TEST(SearchProblem, AJobThatStaysIsAsItIsOrHasNothing) {
  SearchProblem problem = one_job();
  problem.jobs[0].current = {0, 3, 0};
  problem.jobs[0].stays = true;
  EXPECT_TRUE(problem.is_feasible({{0, 3, 0}}));
  EXPECT_TRUE(problem.is_feasible({{0, 0, 0}}));
  EXPECT_FALSE(problem.is_feasible({{3, 0, 0}}));
  EXPECT_FALSE(problem.is_feasible({{0, 4, 0}}));
}

TEST(SearchProblem, TheBoundsOfAWidthAreWithinThem) {
  const SearchProblem problem = one_job();
  EXPECT_FALSE(problem.is_feasible({{1, 0, 0}}));
  EXPECT_TRUE(problem.is_feasible({{2, 0, 0}}));
  EXPECT_TRUE(problem.is_feasible({{4, 2, 0}}));
  EXPECT_FALSE(problem.is_feasible({{4, 3, 0}}));
}

TEST(SearchProblem, WorkersFindRoomByTheUnitsThatTheyTake) {
  SearchJob job;
  job.units = {0, 1, 3};
  EXPECT_EQ(workers_in_units(job, 0, 8), 0U) << "they cannot be there";
  EXPECT_EQ(workers_in_units(job, 1, 8), 8U);
  EXPECT_EQ(workers_in_units(job, 2, 8), 2U);
}

}  // namespace
}  // namespace muster::pollux

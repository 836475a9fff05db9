#include "schedulers/pollux/round_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/cluster.hpp"

namespace muster::pollux {
namespace {

using test::JobBuilder;
using testing::Cluster;
using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

Catalog nodes() {
  return Catalog({testing::type_of("node", "", Resources::of(4, 48, 192), 1)});
}

/// Workers of some GPUs each, of which twice as many are nearly twice as fast.
Job training(std::uint64_t id, double gpus = 1, const Delays& delays = {}) {
  std::vector<double> speedup;
  for (std::uint32_t r = 1; r <= 8; ++r) speedup.push_back(r / (1 + 0.02 * (r - 1)));
  return JobBuilder(id)
      .demand(Resources::of(gpus, 4, 16))
      .delays(delays)
      .elastic(1, 8, ElasticEpochs({{1000, 1, speedup, {}}}))
      .build();
}

/// A fleet of two nodes of four GPUs.
class RoundProblemTest : public ::testing::Test {
 protected:
  RoundProblemTest() { cluster_.add_to_fleet("node", 2); }

  /// The search of a round, on the first of the nodes that there are.
  RoundProblem problem(std::size_t most_nodes = 100) {
    view_.emplace(cluster_.view());
    mask_.learn(cluster_.state());
    input_.emplace(*view_, mask_);
    std::vector<const RoundNode*> all;
    for (const RoundNode& node : input_->nodes()) {
      if (all.size() < most_nodes) all.push_back(&node);
    }
    return ProblemMaker(*view_, *input_, memory_, speeds_).make(std::move(all));
  }

  Cluster cluster_{nodes(), "pollux,budget=8,speedups=oracle"};
  PolluxMemory memory_;
  SpeedSource speeds_ = SpeedSource::oracle;
  PlacementMask mask_;
  std::optional<ClusterView> view_;
  std::optional<ClusterInput> input_;
};

TEST_F(RoundProblemTest, HasTheRoomOfTheNodesAndTheBoundsOfTheJobs) {
  cluster_.submit(training(1));
  cluster_.submit(training(2));
  const RoundProblem made = problem();
  EXPECT_THAT(made.search.room, ElementsAre(4U, 4U));
  EXPECT_EQ(made.search.node_workers, 4);
  ASSERT_EQ(made.search.jobs.size(), 2U);
  const SearchJob& job = made.search.jobs[0];
  EXPECT_EQ(job.least, 1U);
  EXPECT_EQ(job.most, 8U);
  EXPECT_THAT(job.units, ElementsAre(1U, 1U));
  EXPECT_THAT(job.current, ElementsAre(0, 0));
  EXPECT_FALSE(job.stays);
}

TEST_F(RoundProblemTest, SpeedupsAreRelativeToAnEqualShareOfAllNodes) {
  cluster_.submit(training(1));
  cluster_.submit(training(2));
  const RoundProblem made = problem();
  const double fair = 4 / 1.06;
  EXPECT_THAT(made.search.jobs[0].one_node,
              Pointwise(DoubleNear(1e-12), {1 / fair, 2 / 1.02 / fair, 3 / 1.04 / fair, 1.0}));
  EXPECT_EQ(made.search.jobs[0].several.size(), 7U);
  cluster_.submit(training(3));
  EXPECT_THAT(problem().search.jobs[0].one_node[2], DoubleEq(1.0)) << "three of eight, rounded up";
}

TEST_F(RoundProblemTest, AJobIsNoWiderThanAllNodes) {
  cluster_.submit(training(1));
  EXPECT_EQ(problem(1).search.jobs[0].most, 4U);
  EXPECT_EQ(problem(0).search.jobs[0].most, 1U) << "a width of none is no width";
}

TEST_F(RoundProblemTest, WorkersOfDifferentSizesShareANodeByUnits) {
  cluster_.submit(training(1, 1));
  cluster_.submit(training(2, 2));
  EXPECT_THAT(problem().search.room, ElementsAre(4U, 4U));
  EXPECT_THAT(problem().search.jobs[0].units, ElementsAre(1U, 1U));
  EXPECT_THAT(problem().search.jobs[1].units, ElementsAre(2U, 2U));
  cluster_.submit(training(3, 1.25));
  EXPECT_THAT(problem().search.room, ElementsAre(12U, 12U))
      << "of which four, two and three fill one";
  EXPECT_THAT(problem().search.jobs[2].units, ElementsAre(4U, 4U));
}

TEST_F(RoundProblemTest, AJobThatFitsNoNodeCannotBeThere) {
  cluster_.submit(training(1));
  cluster_.submit(training(2, 5));
  const RoundProblem made = problem();
  EXPECT_THAT(made.search.room, ElementsAre(4U, 4U));
  EXPECT_THAT(made.search.jobs[1].units, ElementsAre(0U, 0U));
}

TEST_F(RoundProblemTest, OtherTasksLeaveLessRoom) {
  cluster_.submit(JobBuilder(5).demand(Resources::of(1, 4, 16)).build());
  cluster_.round();
  cluster_.submit(training(1));
  EXPECT_THAT(problem().search.room, ElementsAre(3U, 4U));
}

TEST_F(RoundProblemTest, AJobIsWhereItsWorkersAre) {
  cluster_.submit(training(1));
  cluster_.round();
  EXPECT_THAT(problem().search.jobs[0].current, ElementsAre(4, 4));
  EXPECT_THAT(problem(1).search.jobs[0].current, ElementsAre(0))
      << "some are on nodes that are to go: as it is it cannot stay";
}

TEST_F(RoundProblemTest, TheJobThatHadLeastSoFarComesFirst) {
  cluster_.submit(training(1));
  cluster_.round();
  cluster_.submit(training(2));
  cluster_.let_pass(std::chrono::seconds{60});
  EXPECT_EQ(problem().jobs[0]->job.id, JobId{2});
  EXPECT_EQ(problem().jobs[1]->job.id, JobId{1});
}

TEST_F(RoundProblemTest, JobsThatHadAsMuchKeepTheirOrder) {
  cluster_.submit(training(2));
  cluster_.submit(training(1));
  EXPECT_EQ(problem().jobs[0]->job.id, JobId{2});
}

TEST_F(RoundProblemTest, ARestartLeavesLessTheYoungerAJobIsAndTheMoreItRestarted) {
  Delays slow;
  slow.stop = std::chrono::seconds{10};
  slow.fetch = std::chrono::seconds{20};
  slow.init = std::chrono::seconds{30};
  cluster_.submit(training(1, 1, slow));
  EXPECT_EQ(problem().search.jobs[0].kept_by_change, 0) << "of no age";
  cluster_.round();  // after 300 s
  EXPECT_NEAR(problem().search.jobs[0].kept_by_change, 300.0 / 360, 1e-12);
  cluster_.submit(training(2, 1, slow));
  cluster_.round();  // the first one starts anew with fewer workers
  ASSERT_EQ(cluster_.state().find(TaskId{1})->attempt, 2U);
  const RoundProblem made = problem();
  const std::size_t first = made.jobs[0]->job.id == JobId{1} ? 0 : 1;
  EXPECT_NEAR(made.search.jobs[first].kept_by_change, (600.0 - 60) / 660, 1e-12);
}

TEST_F(RoundProblemTest, ARestartThatTakesNoTimeLeavesNearlyAll) {
  cluster_.submit(training(1));
  EXPECT_LT(problem().search.jobs[0].kept_by_change, 1);
  EXPECT_NEAR(problem().search.jobs[0].kept_by_change, 1, 1e-5);
  cluster_.round();
  EXPECT_LT(problem().search.jobs[0].kept_by_change, 1) << "a change that brings nothing is none";
  EXPECT_NEAR(problem().search.jobs[0].kept_by_change, 1, 1e-5);
}

TEST_F(RoundProblemTest, AJobThatNobodyKnowsAnythingOfBeginsWithItsLeastWidth) {
  speeds_ = SpeedSource::learned;
  cluster_.submit(training(1));
  EXPECT_EQ(problem().search.jobs[0].most, 1U);
  EXPECT_THAT(problem().search.jobs[0].one_node, ElementsAre(1.0 / 8)) << "as fast as it is wide";
  cluster_.submit(JobBuilder(2).demand(Resources::of(1, 4, 16)).elastic(3, 8).build());
  EXPECT_EQ(problem().search.jobs[1].most, 3U);
}

TEST_F(RoundProblemTest, AJobKeepsTheWidthThatItHasWhateverItHasShown) {
  cluster_.submit(training(1));
  cluster_.round();
  speeds_ = SpeedSource::learned;
  EXPECT_EQ(problem().search.jobs[0].most, 8U);
}

TEST_F(RoundProblemTest, AJobThatStatesNothingIsLearntEvenFromAnOracle) {
  cluster_.submit(JobBuilder(1).demand(Resources::of(1, 4, 16)).elastic(1, 8).build());
  EXPECT_EQ(problem().search.jobs[0].most, 1U);
}

TEST_F(RoundProblemTest, OthersStayWhileItIsOneJobsTurn) {
  cluster_.submit(training(1));
  cluster_.round();
  view_.emplace(cluster_.view());
  view_->turn = JobId{99};
  mask_.learn(cluster_.state());
  input_.emplace(*view_, mask_);
  std::vector<const RoundNode*> all;
  for (const RoundNode& node : input_->nodes()) all.push_back(&node);
  const RoundProblem made = ProblemMaker(*view_, *input_, memory_, speeds_).make(std::move(all));
  ASSERT_EQ(made.search.jobs.size(), 1U);
  EXPECT_TRUE(made.search.jobs[0].stays);
}

}  // namespace
}  // namespace muster::pollux

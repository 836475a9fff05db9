#include "schedulers/pollux/job_speeds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster::pollux {
namespace {

using test::at_s;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pointwise;

auto are_near(const std::vector<double>& values) {
  return Pointwise(DoubleNear(1e-12), values);
}

/// A job that says how far it has come, and nothing else.
class SilentJobTest : public ::testing::Test {
 protected:
  void say(double done, double at, std::uint32_t width, Attempt attempt = 1) {
    seen_ = speeds_.observe({TaskId{1}, done, {}}, seen_, {done, at_s(at), attempt, width});
  }
  /// Runs at the width from `from` on, with that progress a second.
  void run(std::uint32_t width, Attempt attempt, double from, double rate) {
    for (int i = 0; i < 3; ++i) say(from + rate * 10 * i, 100.0 * attempt + 10 * i, width, attempt);
  }

  JobSpeeds speeds_{ElasticSpec{1, 8, {}, {}}};
  ProgressSeen seen_;
};

TEST(SpeedTables, LinearOnesAreRelativeToTheFairShare) {
  const SpeedTable table = linear_speeds({.of_node = 2, .most = 3, .fair = 4});
  EXPECT_THAT(table.one_node, ElementsAre(0.25, 0.5));
  EXPECT_THAT(table.several, ElementsAre(0.5, 0.75));
}

TEST(SpeedTables, HaveNoMoreWorkersThanAsked) {
  const SpeedTable table = linear_speeds({.of_node = 4, .most = 2, .fair = 1});
  EXPECT_THAT(table.one_node, ElementsAre(1, 2));
  EXPECT_THAT(table.several, ElementsAre(2));
  EXPECT_THAT(linear_speeds({.of_node = 4, .most = 1, .fair = 1}).several, IsEmpty());
}

TEST(SpeedTables, StatedOnesTellWorkersThatAreSpreadFromThoseThatNeedSeveralNodes) {
  const ElasticEpoch epoch{0, 0, {1, 1.8, 2.4, 3}, {1.5, 2, 2.5}};
  const SpeedTable table = stated_speeds(epoch, {.of_node = 2, .most = 4, .fair = 1});
  EXPECT_THAT(table.one_node, ElementsAre(1, 1.8));
  EXPECT_THAT(table.several, ElementsAre(1.5, 2.4, 3)) << "two would have room on one node";
  const SpeedTable fair = stated_speeds(epoch, {.of_node = 2, .most = 2, .fair = 4});
  EXPECT_THAT(fair.one_node, ElementsAre(1.0 / 3, 1.8 / 3));
}

TEST_F(SilentJobTest, BeforeItHasShownAnythingItIsAsFastAsItHasWorkers) {
  EXPECT_FALSE(speeds_.knows_something());
  EXPECT_EQ(speeds_.width_cap(), 1U);
  EXPECT_THAT(speeds_.table({.of_node = 2, .most = 3, .fair = 1}).several, ElementsAre(2, 3));
}

TEST_F(SilentJobTest, TheStartOfARunSaysNothingOfItsSpeed) {
  say(0, 0, 1);
  EXPECT_FALSE(seen_.went_on);
  say(0, 60, 1);
  EXPECT_FALSE(seen_.went_on) << "no progress yet";
  say(10, 70, 1);
  EXPECT_TRUE(seen_.went_on);
  EXPECT_FALSE(speeds_.knows_something()) << "the start was in these 70 seconds";
  say(20, 80, 1);
  EXPECT_TRUE(speeds_.knows_something());
}

TEST_F(SilentJobTest, ARunThatMakesAPauseIsNoNewStart) {
  say(0, 0, 1);
  say(10, 10, 1);
  say(10, 20, 1);
  EXPECT_TRUE(seen_.went_on);
  say(20, 30, 1);
  EXPECT_TRUE(speeds_.knows_something());
}

TEST_F(SilentJobTest, AnotherWidthOrAttemptIsANewStart) {
  run(1, 1, 0, 1);
  say(40, 130, 2);
  EXPECT_FALSE(seen_.went_on) << "another width";
  say(50, 140, 2, 2);
  EXPECT_FALSE(seen_.went_on) << "another attempt";
}

TEST_F(SilentJobTest, ItsSpeedupsAreTheRatesThatItHasShown) {
  run(2, 1, 0, 2);
  EXPECT_EQ(speeds_.width_cap(), 4U);
  run(4, 2, 100, 3);
  EXPECT_EQ(speeds_.width_cap(), 8U);
  const SpeedTable table = speeds_.table({.of_node = 4, .most = 5, .fair = 1});
  EXPECT_THAT(table.one_node, are_near({1, 2, 2.5, 3}));
  EXPECT_THAT(table.several, are_near({2, 2.5, 3, 3.5})) << "wherever its workers are";
  const SpeedTable fair = speeds_.table({.of_node = 2, .most = 2, .fair = 4});
  EXPECT_THAT(fair.one_node, are_near({1.0 / 3, 2.0 / 3}));
}

TEST_F(SilentJobTest, WiderThanItsCapEachWorkerIsAsGoodAsTheMeanAtTheCap) {
  run(1, 1, 0, 1);
  run(2, 2, 100, 1.5);
  ASSERT_EQ(speeds_.width_cap(), 4U);  // where the speedup is 2.5
  EXPECT_THAT(speeds_.table({.of_node = 1, .most = 8, .fair = 1}).several,
              are_near({1.5, 2, 2.5, 2.5 / 4 * 5, 2.5 / 4 * 6, 2.5 / 4 * 7, 5}));
}

TEST_F(SilentJobTest, IsReadBackAsItWasWritten) {
  run(2, 1, 0, 2);
  const auto read = JobSpeeds::load(speeds_.save());
  ASSERT_TRUE(read);
  const SpeedQuestion asked{.of_node = 4, .most = 4, .fair = 1};
  EXPECT_EQ(read->table(asked).one_node, speeds_.table(asked).one_node);
  EXPECT_EQ(read->width_cap(), 4U);
}

/// A training job: a pass of a worker's batch of 32 takes 0.1 s, and synchronising costs 0.02 s.
TrainingSample step_of(std::uint32_t replicas) {
  return {.nodes = 1,
          .replicas = replicas,
          .local_batch = 32,
          .accumulation = 0,
          .step_s = replicas > 1 ? 0.12 : 0.1,
          .sync_s = replicas > 1 ? 0.02 : 0.0,
          .grad_sqr = 1,
          .grad_var = 20};
}

class TrainingJobTest : public ::testing::Test {
 protected:
  void say(std::uint32_t replicas) {
    seen_ = speeds_.observe({TaskId{1}, 1, step_of(replicas)}, seen_, {1, {}, 1, replicas});
  }
  static ElasticSpec spec() {
    ElasticSpec of{1, 16, {}, {}};
    of.batch = BatchLimits{.initial = 32, .largest = 128, .local_min = 32, .local_max = 64};
    return of;
  }

  JobSpeeds speeds_{spec()};
  ProgressSeen seen_;
};

TEST_F(TrainingJobTest, IsKnownFromItsFirstStepOn) {
  EXPECT_FALSE(speeds_.knows_something());
  EXPECT_THAT(speeds_.table({.of_node = 2, .most = 2, .fair = 1}).one_node, ElementsAre(1, 2));
  say(1);
  EXPECT_TRUE(speeds_.knows_something());
  EXPECT_EQ(speeds_.width_cap(), 2U);
}

TEST_F(TrainingJobTest, ItsSpeedupsAreRelativeToTheFairShareOnOneNode) {
  say(1);
  say(2);
  const SpeedTable one = speeds_.table({.of_node = 4, .most = 4, .fair = 1});
  ASSERT_EQ(one.one_node.size(), 4U);
  ASSERT_EQ(one.several.size(), 3U);
  EXPECT_NEAR(one.one_node[0], 1, 1e-9);
  EXPECT_GT(one.one_node[1], 1) << "two workers are faster than one";
  const SpeedTable two = speeds_.table({.of_node = 4, .most = 4, .fair = 2});
  EXPECT_NEAR(two.one_node[1], 1, 1e-9);
  EXPECT_NEAR(two.several[2] / two.one_node[0], one.several[2], 1e-9);
}

TEST_F(TrainingJobTest, MoreWorkersThanShareItsLargestBatchAreComparedWithThoseThatDo) {
  say(1);
  say(4);
  const SpeedQuestion crowd{.of_node = 8, .most = 8, .fair = 8};
  const SpeedQuestion fed{.of_node = 8, .most = 8, .fair = 4};
  EXPECT_EQ(speeds_.table(crowd).one_node, speeds_.table(fed).one_node);
}

TEST_F(TrainingJobTest, ALargerQuestionIsAnsweredAsIfItWereTheFirst) {
  say(1);
  say(2);
  JobSpeeds other = *JobSpeeds::load(speeds_.save());
  const SpeedQuestion small{.of_node = 2, .most = 2, .fair = 1};
  const SpeedQuestion large{.of_node = 4, .most = 6, .fair = 1};
  EXPECT_EQ(speeds_.table(small).one_node.size(), 2U);
  EXPECT_EQ(speeds_.table(large).several, other.table(large).several);
  EXPECT_EQ(speeds_.table(large).one_node, other.table(large).one_node);
  EXPECT_EQ(speeds_.table(small).one_node, other.table(small).one_node);
  say(4);
  EXPECT_EQ(speeds_.table(large).several, JobSpeeds::load(speeds_.save())->table(large).several)
      << "what it measured meanwhile counts";
}

TEST(SavedSpeeds, WhoseTextIsDamagedAreNotRead) {
  EXPECT_FALSE(JobSpeeds::load({"goodput", "text"}));
  EXPECT_FALSE(JobSpeeds::load({"rates", "text"}));
  EXPECT_FALSE(JobSpeeds::load({"speeds", "text"}));
}

}  // namespace
}  // namespace muster::pollux

#include "schedulers/pollux/pollux_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/cluster.hpp"

namespace muster::pollux {
namespace {

using test::JobBuilder;
using testing::Cluster;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Catalog nodes() {
  return Catalog({testing::type_of("node", "", Resources::of(4, 48, 192), 1)});
}

Job elastic(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(1, 4, 16)).elastic(1, 8).build();
}

/// The memory hears of a cluster in which job 1 runs.
class PolluxMemoryTest : public ::testing::Test {
 protected:
  PolluxMemoryTest() {
    cluster_.add_to_fleet("node", 2);
    cluster_.submit(elastic(1));
    cluster_.round();
    hear(JobAccepted{elastic(1)});
  }

  template <class Body>
  void hear(Body body) {
    memory_.observe({cluster_.view().now, std::move(body)}, cluster_.view());
  }
  void say(TaskId task, double done) { hear(Measured{{}, 0, {{task, done, {}}}}); }
  void size(double nodes, double efficiency, bool tried) {
    RoundDecided round;
    round.note.figures = {
        {"nodes", nodes}, {"efficiency", efficiency}, {"sizes_tried", tried ? 1.0 : 0.0}};
    hear(std::move(round));
  }

  Cluster cluster_{nodes(), "pollux,budget=8"};
  PolluxMemory memory_;
};

TEST_F(PolluxMemoryTest, KnowsElasticJobsUntilTheyAreOver) {
  EXPECT_NE(memory_.find(JobId{1}), nullptr);
  EXPECT_EQ(memory_.find(JobId{2}), nullptr);
  hear(JobAccepted{JobBuilder(2).build()});
  EXPECT_EQ(memory_.find(JobId{2}), nullptr) << "it is not elastic";
  hear(JobFinished{JobId{1}});
  EXPECT_EQ(memory_.find(JobId{1}), nullptr);
  EXPECT_FALSE(memory_.knows_jobs());
}

TEST_F(PolluxMemoryTest, SeesHowFarAJobHasCome) {
  say(TaskId{1}, 5);
  const ProgressSeen& seen = memory_.find(JobId{1})->seen;
  EXPECT_EQ(seen.done, 5);
  EXPECT_EQ(seen.at, cluster_.view().now);
  EXPECT_EQ(seen.attempt, 1U);
  EXPECT_EQ(seen.width, cluster_.state().find(JobId{1})->width);
}

TEST_F(PolluxMemoryTest, TasksOfOtherJobsSayNothing) {
  const std::string before = memory_.save();
  say(TaskId{77}, 5);
  cluster_.submit(JobBuilder(2).build());
  say(TaskId{2}, 5);
  EXPECT_EQ(memory_.save(), before);
}

TEST_F(PolluxMemoryTest, RemembersTheSizeOfItsClusterAndTheEfficiencySince) {
  size(4, 0.5, true);
  EXPECT_EQ(memory_.scale().nodes, 4U);
  EXPECT_THAT(memory_.scale().window, IsEmpty()) << "the window begins with a new size";
  size(4, 0.25, false);
  size(4, 0.75, false);
  EXPECT_THAT(memory_.scale().window, ElementsAre(0.25, 0.75));
  size(6, 0.5, true);
  EXPECT_EQ(memory_.scale().nodes, 6U);
  EXPECT_THAT(memory_.scale().window, IsEmpty());
}

TEST_F(PolluxMemoryTest, ARoundThatSizedNoClusterChangesNothing) {
  size(4, 0.5, true);
  size(4, 0.25, false);
  RoundDecided other;
  other.note.figures = {{"nodes", 9}};
  hear(std::move(other));
  EXPECT_EQ(memory_.scale().nodes, 4U);
  EXPECT_THAT(memory_.scale().window, ElementsAre(0.25));
}

TEST_F(PolluxMemoryTest, TheWindowIsBounded) {
  for (std::size_t i = 0; i <= kMostRemembered; ++i) size(4, static_cast<double>(i), false);
  EXPECT_EQ(memory_.scale().window.size(), kMostRemembered);
  EXPECT_EQ(memory_.scale().window.front(), 1) << "the oldest one is gone";
}

TEST_F(PolluxMemoryTest, TheClusterGoesWithTheLastJob) {
  hear(JobAccepted{elastic(2)});
  size(4, 0.5, true);
  hear(JobFinished{JobId{1}});
  EXPECT_EQ(memory_.scale().nodes, 4U);
  hear(JobFinished{JobId{2}});
  EXPECT_EQ(memory_.scale(), ScaleMemory{});
}

TEST_F(PolluxMemoryTest, IsReadBackAsItWasWritten) {
  say(TaskId{1}, 5);
  say(TaskId{1}, 9);
  size(4, 0.5, false);
  memory_.remember({{{JobId{1}, {{InstanceId{7}, 3}, {InstanceId{9}, 1}}}}, {}});
  PolluxMemory read;
  ASSERT_TRUE(read.load(memory_.save()));
  EXPECT_EQ(read.save(), memory_.save());
  EXPECT_EQ(read.find(JobId{1})->seen, memory_.find(JobId{1})->seen);
  EXPECT_EQ(read.scale(), memory_.scale());
  EXPECT_EQ(read.population(), memory_.population());
}

/// Memories are on disk: what a version before has written is read, and written likewise.
TEST_F(PolluxMemoryTest, IsWrittenAsItAlwaysWas) {
  Job training = elastic(2);
  std::get<ElasticSpec>(training.kind).batch = BatchLimits{128, 1024, 32, 256};
  hear(JobAccepted{training});
  say(TaskId{1}, 5);
  say(TaskId{1}, 9);
  size(4, 0.5, false);
  size(4, 0.25, false);
  memory_.remember({{{JobId{1}, {{InstanceId{7}, 3}, {InstanceId{9}, 1}}}, {JobId{2}, {}}}, {}});
  const std::string text =
      R"x({"jobs":[[1,["rates","muster-learnt width-rates 1\nwidths 0\n)x"
      R"x(end 16063552771679078391\n"],)x"
      R"x(9.0,300000000000,1,1,true],)x"
      R"x([2,["goodput","muster-learnt goodput 1\nlimits 128 1024 32 256\nnoise 0 0\n)x"
      R"x(model 0 0 0 0\nend 7480427938989892531\n"],0.0,0,0,0,false]],)x"
      R"x("population":[[[1,[7,3],[9,1]],[2]],[]],"scale":[4,[0.5,0.25]]})x";
  EXPECT_EQ(memory_.save(), text);
  PolluxMemory read;
  ASSERT_TRUE(read.load(text));
  EXPECT_EQ(read.save(), text);
  EXPECT_EQ(read.find(JobId{1})->seen, memory_.find(JobId{1})->seen);
  EXPECT_EQ(read.scale(), memory_.scale());
  EXPECT_EQ(read.population(), memory_.population());
}

TEST_F(PolluxMemoryTest, ATextThatItDidNotWriteChangesNothing) {
  size(4, 0.5, false);
  const std::string before = memory_.save();
  for (const char* text :
       {"", "{}", "[]", R"({"jobs": [], "population": [], "scale": [1]})",
        R"({"jobs": [[1, ["rates", "x"], 0, 0, 0, 0, false]], "population": [], "scale": [0, []]})",
        R"({"jobs": [], "population": [[["a"]]], "scale": [0, []]})"}) {
    EXPECT_FALSE(memory_.load(text)) << text;
    EXPECT_EQ(memory_.save(), before) << text;
  }
}

}  // namespace
}  // namespace muster::pollux

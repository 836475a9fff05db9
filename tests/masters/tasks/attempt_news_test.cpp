#include "masters/tasks/attempt_news.hpp"

#include "tests/masters/master_commands.hpp"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Tasks 1 and 2 are jobs of their own, meant for instance 0.
class AttemptNewsTest : public test::MasterCommandsTest {
 protected:
  AttemptNewsTest() {
    settings_.max_losses = 2;
    begin_commands();
    reconciler_.emplace(*recorder_, *tasks_, *releases_);
    ends_.emplace(*recorder_, *tasks_, settings_, false);
    news_.emplace(*recorder_, *tasks_, *ends_, *reconciler_);
    ready(0);
    ready(1);
    submit(1);
    submit(2);
  }
  void start(std::uint64_t id) {
    assign(id, 0);
    happen(StartIssued{TaskId{id}, InstanceId{0}, 1, kGrant});
    forget();
  }
  /// What one instance has in hand by its worker's word.
  void compare(const std::set<KnownAttempt>& known) {
    forget();
    news_->compare(InstanceId{0}, known, now());
  }

  std::optional<Reconciler> reconciler_;
  std::optional<JobEnds> ends_;
  std::optional<AttemptNews> news_;
};

TEST_F(AttemptNewsTest, NewsOfAnotherAttemptChangeNothing) {
  start(1);
  for (const Attempt other : {0U, 2U}) {
    news_->started({TaskId{1}, other, {}, {}}, now());
    news_->checkpointed({TaskId{1}, other, {}, {}}, now());
    news_->finished({TaskId{1}, other, {}}, now());
    news_->failed({TaskId{1}, other, "old", {}}, now());
  }
  news_->started({TaskId{9}, 1, {}, {}}, now());
  EXPECT_THAT(recorder_->commit().events, IsEmpty());
}

TEST_F(AttemptNewsTest, AStartIsNewsOnce) {
  start(1);
  news_->started({TaskId{1}, 1, {}, {}}, now());
  news_->started({TaskId{1}, 1, {}, {}}, now());
  EXPECT_EQ(events<TaskStarted>().size(), 1U);
  EXPECT_EQ(task(1).phase, TaskPhase::running);
}

TEST_F(AttemptNewsTest, WhatLostItsPlaceOnTheWayIsStoppedWhenItRuns) {
  start(1);
  happen(TaskUnassigned{TaskId{1}, {}});
  forget();
  news_->started({TaskId{1}, 1, {}, {}}, now());
  EXPECT_THAT(numbers(effects<StopTask>()), ElementsAre(1));
}

TEST_F(AttemptNewsTest, WhatWasNotSaidOfTheStartIsPutOnRecordWithTheEnd) {
  start(1);
  news_->finished({TaskId{1}, 1, {}}, now());
  const Commit commit = recorder_->commit();
  ASSERT_EQ(commit.events.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<TaskStarted>(commit.events[0].body));
  EXPECT_TRUE(std::holds_alternative<TaskFinished>(commit.events[1].body));
  EXPECT_TRUE(std::holds_alternative<JobFinished>(commit.events[2].body));
}

TEST_F(AttemptNewsTest, WhatATaskLeavesIsForTheNextOne) {
  happen(JobAccepted{test::JobBuilder(3).demand(Resources::of(0, 4, 4)).build()});
  start(1);
  happen(TaskAssigned{TaskId{3}, InstanceId{0}, {}, Grant{Resources::of(0, 4, 4)}});
  reconciler_->reconcile(now());
  forget();
  news_->finished({TaskId{1}, 1, {}}, now());
  EXPECT_THAT(numbers(effects<StartTask>()), ElementsAre(3));
}

TEST_F(AttemptNewsTest, ATaskThatMovedStartsElsewhereWhenItHasLeft) {
  run(1, 0);
  tasks_->assign({TaskId{1}, InstanceId{1}, {}, kGrant}, now());
  forget();
  news_->checkpointed({TaskId{1}, 1, {}, {}}, now());
  const auto again = effects<StartTask>();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].on, InstanceId{1});
  EXPECT_EQ(again[0].attempt, 2U);
}

TEST_F(AttemptNewsTest, ATaskThatLeavesByItselfWaitsAgainAndItsStopIsOnRecord) {
  run(1, 0);
  forget();
  news_->checkpointed({TaskId{1}, 1, {}, {}}, now());
  const Commit commit = recorder_->commit();
  EXPECT_TRUE(std::holds_alternative<StopIssued>(commit.events.at(0).body));
  EXPECT_TRUE(std::holds_alternative<TaskCheckpointed>(commit.events.at(1).body));
}

TEST_F(AttemptNewsTest, AFailureForGoodEndsTheJobAndOneOfAnEndingJobIsNone) {
  settings_.max_attempts = 1;
  start(1);
  news_->failed({TaskId{1}, 1, "it fell", {}}, now());
  EXPECT_EQ(events<JobFinished>().size(), 1U);
  start(2);
  happen(JobTerminating{JobId{2}, JobOutcome::cancelled});
  forget();
  news_->failed({TaskId{2}, 1, "it was killed", {}}, now());
  const Commit commit = recorder_->commit();
  EXPECT_FALSE(std::get<TaskFailed>(commit.events.at(0).body).for_good);
  EXPECT_EQ(std::get<JobFinished>(commit.events.back().body).outcome, JobOutcome::cancelled);
}

TEST_F(AttemptNewsTest, AStartThatTheWorkerHasNotHeardOfIsRepeated) {
  start(1);
  compare({});
  EXPECT_THAT(numbers(effects<StartTask>()), ElementsAre(1));
}

TEST_F(AttemptNewsTest, AStopThatTheWorkerHasNotHeardOfIsRepeated) {
  run(1, 0);
  happen(StopIssued{TaskId{1}, 1});
  compare({{TaskId{1}, 1}});
  EXPECT_THAT(numbers(effects<StopTask>()), ElementsAre(1));
}

TEST_F(AttemptNewsTest, WhatBothKnowOfGoesOn) {
  run(1, 0);
  compare({{TaskId{1}, 1}});
  const Commit commit = recorder_->commit();
  EXPECT_THAT(commit.events, IsEmpty());
  EXPECT_TRUE(commit.effects.empty());
}

TEST_F(AttemptNewsTest, WhatRanAndIsNotKnownAnyMoreIsLostAndNobodysFault) {
  run(1, 0);
  compare({});
  const auto failed = events<TaskFailed>();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_TRUE(failed[0].blameless);
  EXPECT_EQ(failed[0].kind, FailureKind::lost);
  EXPECT_FALSE(failed[0].for_good);
}

TEST_F(AttemptNewsTest, WhatShouldNotBeThereIsStopped) {
  compare({{TaskId{7}, 3}});
  const auto stops = effects<StopTask>();
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_EQ(stops[0].attempt, 3U);
  forget();
  news_->compare(InstanceId{9}, {{TaskId{7}, 3}}, now());
  EXPECT_EQ(effects<StopTask>().size(), 1U) << "also on an instance that nobody knows";
}

}  // namespace
}  // namespace muster

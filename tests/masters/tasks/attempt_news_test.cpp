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
    services_.emplace(*recorder_, *tasks_, *releases_, *ends_);
    news_.emplace(*recorder_, AttemptNews::Parts{*tasks_, *ends_, *reconciler_, *services_});
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
  std::optional<Services> services_;
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

/// Job 3 is a service with two replicas; both are meant for instance 0.
class ReplicaNewsTest : public AttemptNewsTest {
 protected:
  ReplicaNewsTest() {
    Job job = test::JobBuilder(3).tasks(2).gang(false).build();
    job.kind = ServiceSpec{};
    happen(JobAccepted{job});
    first_ = job.tasks[0].id;
    start(first_.value);
  }
  static ReplicaState well() {
    ReplicaState state;
    state.ready = true;
    return state;
  }
  bool hear(const ReplicaState& state, Attempt attempt = 1) {
    return news_->replica({first_, attempt, state}, now());
  }
  const TaskRow& replica() const { return task(first_.value); }
  /// The attempt of that number; the first one is there.
  void begin(Attempt attempt) {
    if (attempt == 1) return;
    if (replica().phase == TaskPhase::capped) happen(TaskReleased{first_});
    assign(first_.value, 0);
    happen(StartIssued{first_, InstanceId{0}, attempt, kGrant});
  }

  TaskId first_;
};

TEST_F(ReplicaNewsTest, AReplicaThatIsReadyIsAnEndpoint) {
  EXPECT_TRUE(hear(well()));
  EXPECT_EQ(replica().phase, TaskPhase::running) << "the report of its start may have got lost";
  EXPECT_TRUE(is_endpoint(replica()));
  EXPECT_EQ(events<ReplicaChanged>().size(), 1U);
}

TEST_F(ReplicaNewsTest, NewsThatSayNothingNewChangeNothing) {
  hear(well());
  forget();
  EXPECT_FALSE(hear(well()));
  EXPECT_FALSE(hear(well(), 2)) << "another attempt";
  EXPECT_FALSE(news_->replica({TaskId{1}, 1, well()}, now())) << "no service";
  EXPECT_THAT(recorder_->commit().events, IsEmpty());
}

TEST_F(ReplicaNewsTest, OneThatIsToStopIsNoEndpointAnyMore) {
  hear(well());
  happen(TaskUnassigned{first_, {CauseCode::drained, 0}});
  happen(StopIssued{first_, 1});
  EXPECT_FALSE(is_endpoint(replica()));
}

TEST_F(ReplicaNewsTest, WhenItsAttemptIsOverNothingIsKnownOfIt) {
  hear(well());
  news_->failed({first_, 1, "killed", {}, false, FailureKind::signal}, now());
  EXPECT_EQ(replica().replica, nullptr);
}

TEST_F(ReplicaNewsTest, AnEndIsNoEndOfAServiceAndItRestsLongerAndLongerBeforeTheNextStart) {
  std::vector<double> pauses_s;
  for (Attempt attempt = 1; attempt <= 8; ++attempt) {
    begin(attempt);
    forget();
    const Instant ends = now();
    news_->finished({first_, attempt, {}}, ends);
    const auto failed = events<TaskFailed>();
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_FALSE(failed[0].for_good);
    pauses_s.push_back(failed[0].retry_at ? to_seconds(*failed[0].retry_at - ends) : 0);
    if (!failed[0].retry_at) {
      EXPECT_EQ(replica().phase, TaskPhase::pending);
      continue;
    }
    EXPECT_EQ(replica().phase, TaskPhase::capped);
    EXPECT_EQ(replica().reason.code, RefusalCode::restart_pause);
    happen(TaskReleased{first_});
    EXPECT_EQ(replica().phase, TaskPhase::pending);
  }
  EXPECT_THAT(pauses_s, ElementsAre(0, 10, 20, 40, 80, 160, 300, 300));
  EXPECT_EQ(facts().failures_of(JobId{3}), nullptr) << "no failure of it counts";
}

TEST_F(ReplicaNewsTest, AHealthyOneThatIsLostStartsAgainAtOnceHoweverOftenThatHappens) {
  for (Attempt attempt = 1; attempt <= 6; ++attempt) {
    begin(attempt);
    if (attempt != 4) hear(well(), attempt);
    if (attempt < 4) clock_s_ += 6;
    forget();
    news_->failed({first_, attempt, "its worker is gone", {}, true, FailureKind::lost}, now());
    EXPECT_EQ(events<TaskFailed>().at(0).retry_at.has_value(), attempt > 4)
        << "from the second time on that it had not been ready for long enough: " << attempt;
  }
}

TEST_F(ReplicaNewsTest, OneThatHasStoodForLongIsStartedAgainAtOnce) {
  for (Attempt attempt = 1; attempt <= 3; ++attempt) {
    begin(attempt);
    happen(TaskStarted{first_, attempt, {}, {}});
    if (attempt == 3) clock_s_ += 601;
    forget();
    news_->finished({first_, attempt, {}}, now());
    const auto failed = events<TaskFailed>();
    EXPECT_EQ(failed.at(0).retry_at.has_value(), attempt == 2) << attempt;
  }
}

TEST_F(ReplicaNewsTest, OneThatCanNeverStartEndsItsService) {
  news_->failed({first_, 1, "cannot start: /x", {}, false, FailureKind::cannot_start}, now());
  EXPECT_EQ(replica().phase, TaskPhase::failed);
}

}  // namespace
}  // namespace muster

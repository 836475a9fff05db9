#include "model/stay.hpp"

#include <gtest/gtest.h>

#include "model/state_snapshot.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

constexpr Duration kMinute = std::chrono::minutes{1};

class StayTest : public ::testing::Test {
 protected:
  StayTest() {
    for (std::uint64_t id = 0; id < 2; ++id) {
      apply(0, LaunchRequested{InstanceId{id}, TypeId{2}, Market::on_demand, {}, {}});
      apply(0, InstanceUp{InstanceId{id}});
      apply(0, InstanceReady{InstanceId{id}});
    }
  }
  void apply(double at, EventBody body) { state_.apply({at_s(at), std::move(body)}); }
  void accept(Job job) { apply(0, JobAccepted{std::move(job)}); }
  void start(std::uint64_t task, double at, std::uint64_t on = 0) {
    const Attempt attempt = row(task).attempt + 1;
    apply(at, TaskAssigned{TaskId{task}, InstanceId{on}, {}});
    apply(at, StartIssued{TaskId{task}, InstanceId{on}, attempt});
    apply(at, TaskStarted{TaskId{task}, attempt, {}, {}});
  }
  void leave(std::uint64_t task, double at, std::int32_t exit_code, Duration upload = {}) {
    apply(at, TaskUnassigned{TaskId{task}, {}});
    apply(at, StopIssued{TaskId{task}, row(task).attempt});
    apply(at, TaskCheckpointed{TaskId{task}, row(task).attempt, upload, {exit_code, {}, {}}});
  }
  const TaskRow& row(std::uint64_t task) const { return *state_.find(TaskId{task}); }
  std::optional<Refusal> why(std::uint64_t task, double at) const {
    return why_it_stays(state_, row(task), {at_s(at), kMinute});
  }
  double lost_s(std::uint64_t task, double at) const {
    return to_seconds(unsaved(state_, row(task), at_s(at)));
  }

  Catalog catalog_ = test::table3_catalog();
  ClusterState state_{catalog_};
};

Job plain(std::uint64_t id) {
  Job job = JobBuilder(id).gang(false).build();
  job.checkpoints = false;
  return job;
}

TEST_F(StayTest, ATaskStaysForTheLeastTimeAndIsFreeThen) {
  accept(plain(1));
  start(1, 100);
  const auto early = why(1, 130);
  ASSERT_TRUE(early.has_value());
  EXPECT_EQ(*early, (Refusal{RefusalKind::not_now, RefusalCode::min_stay, {}, 60, 30}));
  EXPECT_FALSE(why(1, 160).has_value());
}

TEST_F(StayTest, EachAttemptStaysAnew) {
  accept(plain(1));
  start(1, 0);
  leave(1, 90, 143);
  start(1, 100);
  EXPECT_EQ(why(1, 110)->available, 10);
}

TEST_F(StayTest, AJobThatIsNotMovableStaysForGood) {
  Job job = plain(1);
  job.movable = false;
  accept(std::move(job));
  EXPECT_FALSE(why(1, 0).has_value()) << "it does not run yet";
  start(1, 0);
  EXPECT_EQ(why(1, 1e6)->code, RefusalCode::not_movable);
}

TEST_F(StayTest, OfAGangTheTaskThatStartedLastSpeaksForAll) {
  accept(JobBuilder(1).tasks(2).build());
  start(1, 0);
  start(101, 50, 1);
  EXPECT_EQ(why(1, 100)->available, 50);
  EXPECT_FALSE(why(1, 110).has_value());
}

TEST_F(StayTest, AnInstanceThatIsNotWantedKeepsNobody) {
  accept(plain(1));
  start(1, 0);
  apply(1, TaskUnassigned{TaskId{1}, {CauseCode::drained, 0}});
  apply(1, ReleaseDecided{InstanceId{0}, {CauseCode::drained, 0}});
  EXPECT_FALSE(why(1, 2).has_value());
}

TEST_F(StayTest, WithoutCheckpointsAllThatTheAttemptHasRunWouldBeLost) {
  accept(plain(1));
  EXPECT_EQ(lost_s(1, 50), 0);
  start(1, 100);
  EXPECT_EQ(lost_s(1, 400), 300);
  leave(1, 400, 143);
  start(1, 500);
  EXPECT_EQ(lost_s(1, 510), 10);
  EXPECT_EQ(row(1).ran, Duration{});
}

TEST_F(StayTest, AJobThatKeepsCheckpointsLosesNothing) {
  accept(JobBuilder(1).build());
  start(1, 100);
  EXPECT_EQ(lost_s(1, 400), 0);
  leave(1, 400, 0, from_seconds(20));
  EXPECT_EQ(row(1).started_at, at_s(100));
  EXPECT_EQ(row(1).ran, from_seconds(280)) << "its checkpoint was saved for 20 s";
}

TEST_F(StayTest, WhereCheckpointsAreAMachinesOwnAStopLosesAllThatTheAttemptHasRun) {
  accept(JobBuilder(1).build());
  apply(0, OwnCheckpoints{InstanceId{1}});
  start(1, 100, 1);
  EXPECT_EQ(lost_s(1, 400), 300);
  leave(1, 400, 0);
  EXPECT_EQ(row(1).ran, Duration{});
  start(1, 500);
  EXPECT_EQ(lost_s(1, 800), 0) << "this one shares the cluster's folder";
}

TEST_F(StayTest, WorkThatIsInTheClustersFolderStaysThereWhereverTheTaskRuns) {
  accept(JobBuilder(1).build());
  apply(0, OwnCheckpoints{InstanceId{1}});
  start(1, 100);
  leave(1, 400, 0);
  start(1, 500, 1);
  leave(1, 800, 0);
  EXPECT_EQ(row(1).ran, from_seconds(300));
}

TEST_F(StayTest, AnAttemptInTheVeryPlaceFindsWhatWasSavedThere) {
  accept(JobBuilder(1).build());
  apply(0, OwnCheckpoints{InstanceId{1}});
  start(1, 100, 1);
  // As when a worker of its gang has to start again.
  apply(400, StopIssued{TaskId{1}, row(1).attempt});
  apply(400, TaskCheckpointed{TaskId{1}, row(1).attempt, {}, {0, {}, {}}});
  EXPECT_EQ(row(1).ran, from_seconds(300));
}

TEST_F(StayTest, OfARowOfBeforeStartsWereKeptNothingCountsThatWasBeforeItsJob) {
  apply(1000, JobAccepted{JobBuilder(1).tasks(2).build()});
  start(1, 1100);
  start(101, 1100);
  StateSnapshot snapshot = snapshot_of(std::move(state_));
  for (TaskRow& task : snapshot.tasks) task.started_at = {};
  state_ = restore(std::move(snapshot), catalog_).value();
  apply(1300, TaskFinished{TaskId{1}, 1});
  EXPECT_EQ(row(1).ran, from_seconds(300));
  leave(101, 1300, 0);
  EXPECT_EQ(row(101).ran, from_seconds(300));
}

TEST_F(StayTest, ATaskThatOnceEndedWithACheckpointIsTakenToDoSoAgain) {
  accept(plain(1));
  start(1, 0);
  leave(1, 40, kCheckpointedExit);
  EXPECT_EQ(row(1).ran, from_seconds(40));
  start(1, 50);
  EXPECT_EQ(lost_s(1, 400), 0);
}

TEST_F(StayTest, WhatFailedOrWasLostWithItsInstanceDoesNotCountAsRun) {
  accept(plain(1));
  start(1, 0);
  apply(30, TaskFailed{TaskId{1}, 1, "killed", {}, false});
  start(1, 40);
  apply(90, InstanceGone{InstanceId{0}});
  EXPECT_EQ(row(1).ran, Duration{});
  start(1, 100, 1);
  apply(107, TaskFinished{TaskId{1}, 3});
  EXPECT_EQ(row(1).ran, from_seconds(7));
}

}  // namespace
}  // namespace muster

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/masters/scripted_master.hpp"

// master.move_when_ready: a task that moves runs on until its new instance is ready.

namespace muster {
namespace {

using test::JobBuilder;
using test::MasterTest;

class MoveWhenReadyTest : public MasterTest {
 protected:
  MoveWhenReadyTest() {
    settings_.move_when_ready = true;
    settings_.min_stay = {};
    make_master({});
  }

  /// Task 1 runs on instance 0 and is to move to instance 1, which is new.
  void begin_move(bool giving_back = false, std::size_t tasks = 1) {
    one_running(1, tasks);
    Plan plan = together({1});
    if (giving_back) plan.releases.push_back({InstanceId{0}, {}});
    EXPECT_EQ(count<StopTask>(round(plan)), tasks > 1 ? tasks : 0U);
  }
  const TaskRow& task(std::uint64_t id = 1) const { return *master_->state().find(TaskId{id}); }
  bool holds(std::uint64_t instance) const {
    const InstanceRow* row = master_->state().find(InstanceId{instance});
    return row != nullptr && task().at == row->slot;
  }
  bool meant_for(std::uint64_t instance) const {
    const InstanceRow* row = master_->state().find(InstanceId{instance});
    return row != nullptr && task().target == row->slot;
  }
  void expect_consistent() const {
    EXPECT_THAT(master_->state().inconsistencies(), testing::IsEmpty());
  }
};

TEST_F(MoveWhenReadyTest, ATaskRunsOnUntilItsNewInstanceIsReadyAndHoldsBoth) {
  begin_move();
  EXPECT_EQ(task().phase, TaskPhase::running);
  EXPECT_TRUE(holds(0) && meant_for(1));
  master_->instance_up(InstanceId{1}, {}, now());
  EXPECT_EQ(count<StopTask>(commit()), 0U) << "up is not ready";
  master_->instance_ready(InstanceId{1}, now());
  EXPECT_EQ(count<StopTask>(commit()), 1U);
  EXPECT_TRUE(holds(0) && meant_for(1)) << "while its checkpoint is sent";
  master_->task_checkpointed({TaskId{1}, 1, {}, {}}, now());
  EXPECT_EQ(count<StartTask>(commit()), 1U);
  EXPECT_TRUE(holds(1));
  expect_consistent();
}

TEST_F(MoveWhenReadyTest, WhatIsGivenBackForTheMoveEndsWhenTheTaskHasLeft) {
  begin_move(true);
  EXPECT_EQ(count<EndInstance>(boot(1)), 0U);
  master_->task_checkpointed({TaskId{1}, 1, {}, {}}, now());
  EXPECT_EQ(count<EndInstance>(commit()), 1U);
}

TEST_F(MoveWhenReadyTest, AMoveToAnInstanceThatIsReadyBeginsAtOnce) {
  one_running(1);
  one_running(2);
  Plan plan;
  plan.places.push_back({TaskId{1}, InstanceId{1}, {}});
  plan.stops.push_back({TaskId{2}, {}});
  EXPECT_EQ(count<StopTask>(round(plan)), 2U);
}

TEST_F(MoveWhenReadyTest, ATaskWhoseNewInstanceIsRefusedStaysWhereItIs) {
  begin_move();
  master_->instance_refused(InstanceId{1}, now());
  EXPECT_EQ(count<StopTask>(commit()), 0U);
  EXPECT_TRUE(holds(0) && meant_for(0));
  expect_consistent();
}

TEST_F(MoveWhenReadyTest, ATaskWhoseNewInstanceIsGoneStaysWhereItIs) {
  begin_move();
  master_->instance_up(InstanceId{1}, {}, now());
  master_->instance_gone(InstanceId{1}, {}, now());
  EXPECT_EQ(count<StopTask>(commit()), 0U);
  EXPECT_TRUE(holds(0) && meant_for(0));
  expect_consistent();
}

TEST_F(MoveWhenReadyTest, ItLeavesWhereItMayNotStay) {
  begin_move(true);
  master_->instance_refused(InstanceId{1}, now());
  EXPECT_EQ(count<StopTask>(commit()), 1U) << "its instance was given back for the move";
  expect_consistent();
}

TEST_F(MoveWhenReadyTest, ItLeavesWhereItsRoomWasPromisedToAnother) {
  begin_move();
  // Of its 8 cores each task asks for 2.
  Plan plan;
  for (const std::uint64_t id : {2, 3, 4, 5}) {
    ASSERT_EQ(master_->submit(JobBuilder(id).build(), now()), SubmitResult::accepted);
    plan.places.push_back({TaskId{id}, InstanceId{0}, {}});
  }
  round(plan);
  master_->instance_refused(InstanceId{1}, now());
  EXPECT_EQ(count<StopTask>(commit()), 1U);
  expect_consistent();
}

TEST_F(MoveWhenReadyTest, ANoticeForTheInstanceThatItIsToLeaveStopsItAtOnce) {
  begin_move(true);
  EXPECT_TRUE(master_->evict(InstanceId{0}, CauseCode::interrupted, now()));
  EXPECT_EQ(count<StopTask>(commit()), 1U);
  master_->task_checkpointed({TaskId{1}, 1, {}, {}}, now());
  EXPECT_EQ(task().phase, TaskPhase::assigned) << "it starts when its new instance is ready";
  boot(1);
  EXPECT_TRUE(holds(1));
}

TEST_F(MoveWhenReadyTest, ANoticeForTheInstanceThatItRunsOnStopsItAtOnce) {
  begin_move();
  EXPECT_TRUE(master_->evict(InstanceId{0}, CauseCode::interrupted, now()));
  EXPECT_EQ(count<StopTask>(commit()), 1U);
  EXPECT_TRUE(meant_for(1));
}

TEST_F(MoveWhenReadyTest, ANoticeForTheInstanceThatItWasToMoveToLeavesItWhereItRuns) {
  begin_move();
  master_->instance_up(InstanceId{1}, {}, now());
  EXPECT_TRUE(master_->evict(InstanceId{1}, CauseCode::interrupted, now()));
  EXPECT_EQ(count<StopTask>(commit()), 0U);
  EXPECT_TRUE(holds(0) && meant_for(0));
  EXPECT_TRUE(master_->state().find(InstanceId{1})->released);
  expect_consistent();
}

TEST_F(MoveWhenReadyTest, ATaskThatEndsMeanwhileNeedsNoPlace) {
  begin_move();
  master_->task_finished({TaskId{1}, 1, {}}, now());
  commit();
  boot(1);
  EXPECT_TRUE(master_->state().find(InstanceId{1})->planned.empty());
  expect_consistent();
}

TEST_F(MoveWhenReadyTest, AGangIsStoppedAtOnce) {
  begin_move(false, 2);
}

TEST_F(MoveWhenReadyTest, ATaskThatIsPlacedWhereItIsDoesNotMove) {
  begin_move();
  Plan back;
  back.places.push_back({TaskId{1}, InstanceId{0}, {}});
  EXPECT_EQ(count<StopTask>(round(back)), 0U);
  EXPECT_EQ(count<StopTask>(boot(1)), 0U);
  EXPECT_TRUE(holds(0) && meant_for(0));
}

TEST_F(MoveWhenReadyTest, AMasterThatIsStartedAgainGoesOnWithTheMove) {
  begin_move();
  MasterSnapshot snapshot = master_->snapshot();
  make_master({});
  EXPECT_EQ(master_->restore(std::move(snapshot), {}), "");
  EXPECT_EQ(count<StopTask>(boot(1)), 1U);
}

TEST_F(MoveWhenReadyTest, TheTasksOfAnArrayMoveByThemselves) {
  const Job array = JobBuilder(1).tasks(2).gang(false).build();
  ASSERT_EQ(master_->submit(array, now()), SubmitResult::accepted);
  round(together({array.tasks[0].id.value, array.tasks[1].id.value}));
  boot(0);
  for (const TaskSpec& task : array.tasks) started(task.id.value, 1);
  EXPECT_EQ(count<StopTask>(round(together({1}))), 0U);
  EXPECT_EQ(count<StopTask>(boot(1)), 1U);
}

}  // namespace
}  // namespace muster

#include "masters/tasks/task_orders.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

Refusal for_room(RefusalCode code = RefusalCode::awaiting_capacity) {
  return {RefusalKind::not_now, code, Resource::cpu, 2, 0};
}

class TaskOrdersTest : public test::MasterPartsTest {
 protected:
  TaskOrdersTest() { make(); }
  void make(Fleet fleet = {}) {
    begin(std::move(fleet));
    cloud_.emplace(*recorder_, 0);
    releases_.emplace(*recorder_, *cloud_);
    tasks_.emplace(*recorder_, *releases_);
  }
  void refuse(std::uint64_t id, const Refusal& refusal) {
    tasks_->refuse(TaskId{id}, refusal, now());
  }

  std::optional<CloudOrders> cloud_;
  std::optional<InstanceReleases> releases_;
  std::optional<TaskOrders> tasks_;
};

TEST_F(TaskOrdersTest, AStartIsTheNextAttemptAtTheTasksPlaceWithItsGrant) {
  ready(4);
  submit(1);
  assign(1, 4);
  forget();
  tasks_->start(task(1), now());
  const Commit commit = recorder_->commit();
  const StartIssued issued{TaskId{1}, InstanceId{4}, 1, kGrant};
  EXPECT_EQ(std::get<StartIssued>(commit.events.at(0).body), issued);
  const auto& told = std::get<StartTask>(commit.effects.at(0));
  EXPECT_EQ(told.on, InstanceId{4});
  EXPECT_EQ(told.attempt, 1U);
}

TEST_F(TaskOrdersTest, WhatRunsIsToldToStopWhenItGetsAnotherPlaceOrNone) {
  ready(0);
  ready(1);
  for (const std::uint64_t id : {1, 2}) {
    submit(id);
    run(id, 0);
  }
  forget();
  tasks_->assign({TaskId{1}, InstanceId{1}, {}, kGrant}, now());
  EXPECT_THAT(numbers(effects<StopTask>()), ElementsAre(1));
  tasks_->unassign(TaskId{2}, {CauseCode::evicted, 0}, now());
  EXPECT_THAT(numbers(effects<StopTask>()), ElementsAre(2));
  EXPECT_EQ(task(2).phase, TaskPhase::stopping);
}

TEST_F(TaskOrdersTest, WhatDoesNotRunNeedNotStop) {
  ready(0);
  submit(1);
  assign(1, 0);
  forget();
  tasks_->unassign(TaskId{1}, {CauseCode::evicted, 0}, now());
  EXPECT_THAT(recorder_->commit().effects, IsEmpty());
}

TEST_F(TaskOrdersTest, AGangGivesAllItsPlacesBackAndTheInstancesThatNobodyElseUses) {
  ready(0);
  ready(1);
  submit(1, 2);
  submit(5);
  assign(1, 0);
  assign(101, 1);
  assign(5, 1);
  forget();
  tasks_->unassign_gang(job(1), for_room(), now());
  EXPECT_EQ(task(1).phase, TaskPhase::pending);
  EXPECT_EQ(task(101).phase, TaskPhase::pending);
  EXPECT_EQ(task(1).reason, for_room());
  EXPECT_TRUE(state().find(InstanceId{0})->released);
  EXPECT_FALSE(state().find(InstanceId{1})->released);
}

TEST_F(TaskOrdersTest, TheTasksOfAnArrayKeepTheirPlaces) {
  ready(0);
  submit(1, 2, false);
  assign(1, 0);
  forget();
  tasks_->unassign_gang(job(1), for_room(), now());
  EXPECT_THAT(recorder_->commit().events, IsEmpty());
}

TEST_F(TaskOrdersTest, WhenOneOfAGangMovesTheOthersStartAgainWhereTheyAre) {
  ready(0);
  ready(1);
  submit(1, 3);
  for (const std::uint64_t id : {1, 101}) run(id, 0);
  forget();
  tasks_->restart_peers(job(1), now());
  const Commit commit = recorder_->commit();
  const auto& again = std::get<TaskAssigned>(commit.events.at(0).body);
  EXPECT_EQ(again.to, InstanceId{0});
  EXPECT_EQ(again.cause.code, CauseCode::gang_restart);
  EXPECT_EQ(commit.effects.size(), 2U) << "the third has no place";
}

TEST_F(TaskOrdersTest, AReasonIsToldOnceAndOnlyToWhoWaits) {
  ready(0);
  submit(1);
  forget();
  refuse(1, for_room());
  refuse(1, for_room());
  EXPECT_EQ(events<TaskRefused>().size(), 1U);
  refuse(1, for_room(RefusalCode::instance_cap));
  EXPECT_EQ(events<TaskRefused>().size(), 1U);
  run(1, 0);
  forget();
  refuse(1, for_room());
  refuse(9, for_room());
  EXPECT_THAT(events<TaskRefused>(), IsEmpty());
}

TEST_F(TaskOrdersTest, OnlyATaskOfNoGangIsKnownToWaitForThat) {
  submit(1, 1, false);
  submit(2, 2);
  refuse(1, for_room());
  refuse(2, for_room());
  EXPECT_TRUE(tasks_->knows(TaskId{1}, for_room()));
  EXPECT_FALSE(tasks_->knows(TaskId{1}, for_room(RefusalCode::instance_cap)));
  EXPECT_FALSE(tasks_->knows(TaskId{2}, for_room()));
  EXPECT_FALSE(tasks_->knows(TaskId{9}, for_room()));
}

TEST_F(TaskOrdersTest, AGangThatIsLargerThanTheFleetIsToldThatUntilTheFleetGrows) {
  make({{it4(), Market::on_demand, 2}});
  ready(0);
  happen(JobAccepted{JobBuilder(1).tasks(2).demand(Resources::of(0, 3, 4)).build()});
  refuse(1, for_room(RefusalCode::awaiting_peers));
  const auto over = gang_over_fleet(job(1), state());
  ASSERT_TRUE(over);
  EXPECT_EQ(task(1).reason, *over);
  launch(1);
  refuse(1, for_room(RefusalCode::awaiting_peers));
  EXPECT_EQ(task(1).reason, for_room(RefusalCode::awaiting_peers));
}

TEST_F(TaskOrdersTest, AnOrderIsRepeatedWithoutAnEvent) {
  ready(0);
  submit(1);
  run(1, 0);
  forget();
  tasks_->repeat_start(task(1), InstanceId{0});
  tasks_->repeat_stop(TaskId{7}, 3, InstanceId{0});
  const Commit commit = recorder_->commit();
  EXPECT_THAT(commit.events, IsEmpty());
  EXPECT_EQ(std::get<StartTask>(commit.effects.at(0)).attempt, 1U);
  EXPECT_EQ(std::get<StopTask>(commit.effects.at(1)).attempt, 3U);
}

}  // namespace
}  // namespace muster

#include "masters/tasks/reconciler.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ReconcilerTest : public test::MasterPartsTest {
 protected:
  ReconcilerTest() { make(); }
  void make() {
    begin();
    cloud_.emplace(*recorder_, 0);
    releases_.emplace(*recorder_, *cloud_);
    tasks_.emplace(*recorder_, *releases_);
    reconciler_.emplace(*recorder_, *tasks_, *releases_);
  }
  void boot(std::uint64_t id) {
    up(id);
    happen(InstanceReady{InstanceId{id}});
  }
  std::vector<std::uint64_t> started() {
    forget();
    reconciler_->reconcile(now());
    return numbers(effects<StartTask>());
  }
  std::vector<std::uint64_t> started_at(std::uint64_t instance) {
    forget();
    reconciler_->reconcile_at(InstanceId{instance}, now());
    return numbers(effects<StartTask>());
  }
  RefusalCode reason(std::uint64_t id) const { return task(id).reason.code; }

  std::optional<CloudOrders> cloud_;
  std::optional<InstanceReleases> releases_;
  std::optional<TaskOrders> tasks_;
  std::optional<Reconciler> reconciler_;
};

TEST_F(ReconcilerTest, ATaskStartsWhenItsInstanceIsReady) {
  launch(0);
  submit(1);
  assign(1, 0);
  EXPECT_THAT(started(), IsEmpty());
  EXPECT_EQ(reason(1), RefusalCode::awaiting_instance);
  boot(0);
  EXPECT_THAT(started(), ElementsAre(1));
  EXPECT_THAT(started(), IsEmpty()) << "once";
}

TEST_F(ReconcilerTest, ATaskWaitsForTheRoomThatAnotherLeaves) {
  ready(0);  // 4 cores
  for (const std::uint64_t id : {1, 2, 3}) {
    submit(id);
    assign(id, 0);
  }
  EXPECT_THAT(started(), ElementsAre(1, 2));
  EXPECT_EQ(task(3).reason,
            (Refusal{RefusalKind::not_now, RefusalCode::awaiting_capacity, Resource::cpu, 2, 0}));
  happen(TaskStarted{TaskId{1}, 1, {}, {}});
  happen(TaskFinished{TaskId{1}, 1, {}});
  EXPECT_THAT(started_at(0), ElementsAre(3));
}

TEST_F(ReconcilerTest, AGangStartsWhenAllItsInstancesAreUpEachTaskAsItsOwnIsReady) {
  launch(0);
  launch(1);
  submit(1, 2);
  assign(1, 0);
  assign(101, 1);
  boot(0);
  EXPECT_THAT(started_at(0), IsEmpty());
  EXPECT_EQ(reason(1), RefusalCode::awaiting_instance);
  up(1);
  EXPECT_THAT(started_at(1), ElementsAre(1));
  happen(InstanceReady{InstanceId{1}});
  EXPECT_THAT(started_at(1), ElementsAre(101));
}

TEST_F(ReconcilerTest, AGangWhoseTaskHasStillToStopWaitsForIt) {
  ready(0);
  ready(1);
  submit(1, 2);
  run(1, 0);
  assign(101, 1);
  happen(TaskAssigned{TaskId{1}, InstanceId{1}, {}, kGrant});
  happen(StopIssued{TaskId{1}, 1});
  EXPECT_THAT(started(), IsEmpty());
  EXPECT_EQ(reason(101), RefusalCode::awaiting_peers);
  happen(TaskCheckpointed{TaskId{1}, 1, {}, {}});
  forget();
  reconciler_->reconcile_task(TaskId{1}, now());
  const std::vector<std::uint64_t> both = numbers(effects<StartTask>());
  EXPECT_THAT(both, testing::UnorderedElementsAre(1, 101));
}

TEST_F(ReconcilerTest, AGangThatHasNotAllItsPlacesGivesThemBack) {
  ready(0);
  submit(1, 2);
  assign(1, 0);
  EXPECT_THAT(started(), IsEmpty());
  EXPECT_EQ(task(1).phase, TaskPhase::pending);
  EXPECT_EQ(reason(1), RefusalCode::awaiting_peers);
  EXPECT_EQ(state().find(InstanceId{0})->phase, InstancePhase::terminating)
      << "and what nobody is meant for any more ends with the same look";
}

TEST_F(ReconcilerTest, WhatChangesOnOneInstanceStartsNothingElsewhere) {
  ready(0);
  ready(1);
  submit(1);
  submit(2);
  assign(1, 0);
  assign(2, 1);
  EXPECT_THAT(started_at(1), ElementsAre(2));
  EXPECT_THAT(started_at(9), IsEmpty());
  EXPECT_THAT(started(), ElementsAre(1));
}

TEST_F(ReconcilerTest, EmptyReleasedInstancesEnd) {
  ready(0);
  happen(ReleaseDecided{InstanceId{0}, {}});
  forget();
  reconciler_->reconcile(now());
  EXPECT_THAT(numbers(effects<EndInstance>()), ElementsAre(0));
}

TEST_F(ReconcilerTest, AfterARestartItLooksAtEverything) {
  ready(0);
  submit(1);
  assign(1, 0);
  MasterSnapshot snapshot = recorder_->memory().snapshot();
  make();
  recorder_->restore(std::move(snapshot));
  EXPECT_THAT(started(), ElementsAre(1));
}

}  // namespace
}  // namespace muster

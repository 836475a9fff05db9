#include "masters/tasks/start_candidates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using testing::ElementsAre;
using testing::IsEmpty;

/// A state whose assigned tasks are tried by nobody but the test.
class StartCandidatesTest : public ::testing::Test {
 protected:
  void happen(EventBody body) {
    const Event event{at_s(0), std::move(body)};
    candidates_.before(event, state_);
    state_.apply(event);
    candidates_.after(state_);
  }
  void submit(std::uint64_t id, std::size_t tasks = 1) {
    happen(JobAccepted{test::JobBuilder(id).tasks(tasks).gang(tasks > 1).build()});
  }
  void launch(std::uint64_t id) {
    happen(LaunchRequested{InstanceId{id}, test::type_named(catalog_, "it4"), {}, {}, {}});
  }
  void ready(std::uint64_t id) {
    happen(InstanceUp{InstanceId{id}});
    happen(InstanceReady{InstanceId{id}});
  }
  void assign(std::uint64_t task, std::uint64_t instance) {
    happen(TaskAssigned{TaskId{task}, InstanceId{instance}, {}, kGrant});
  }
  void start(std::uint64_t task, std::uint64_t instance) {
    happen(StartIssued{TaskId{task}, InstanceId{instance}, 1, kGrant});
  }
  /// What a pass tries, in its order.
  std::vector<std::uint64_t> pass() {
    std::vector<std::uint64_t> tried;
    candidates_.begin_pass(state_);
    while (const auto slot = candidates_.next(state_)) {
      tried.push_back(state_.task(*slot).id.value);
    }
    return tried;
  }

  inline static const Grant kGrant{Resources::of(0, 2, 4)};
  Catalog catalog_ = test::table3_catalog();
  ClusterState state_{catalog_};
  StartCandidates candidates_;
};

TEST_F(StartCandidatesTest, RoomConcernsAnInstanceOnlyWhereATaskWaitsForIt) {
  launch(1);
  ready(1);
  for (const std::uint64_t id : {1, 2, 3}) submit(id);
  for (const std::uint64_t id : {1, 2, 3}) assign(id, 1);
  for (const std::uint64_t id : {1, 2}) start(id, 1);
  pass();
  const Slot here = state_.find(InstanceId{1})->slot;
  EXPECT_FALSE(candidates_.may_start_some(state_, here));
  happen(TaskRefused{TaskId{3},
                     {RefusalKind::not_now, RefusalCode::awaiting_capacity, Resource::cpu, 2, 0}});
  EXPECT_TRUE(candidates_.may_start_some(state_, here));
  happen(TaskStarted{TaskId{1}, 1, {}, {}});
  happen(TaskFinished{TaskId{1}, 1, {}});
  EXPECT_THAT(pass(), testing::Contains(3));
  start(3, 1);
  EXPECT_FALSE(candidates_.may_start_some(state_, here));
}

TEST_F(StartCandidatesTest, TheEndOfAJobLooksAtNoneThatEndedBefore) {
  launch(1);
  ready(1);
  for (std::uint64_t id = 1; id <= 100; ++id) {
    happen(JobAccepted{test::JobBuilder(id).gang(true).build()});
    assign(id, 1);
  }
  pass();
  for (std::uint64_t id = 1; id <= 100; ++id) {
    start(id, 1);
    happen(TaskStarted{TaskId{id}, 1, {}, {}});
    happen(TaskFinished{TaskId{id}, 1, {}});
    EXPECT_LE(candidates_.marked_gangs(), 1u);
    happen(JobFinished{JobId{id}, JobOutcome::completed});
  }
}

TEST_F(StartCandidatesTest, ATaskIsTriedWhenItIsAssignedAndNotAgainForNothing) {
  launch(1);
  submit(1);
  EXPECT_THAT(pass(), IsEmpty());
  assign(1, 1);
  EXPECT_THAT(pass(), ElementsAre(1));
  EXPECT_THAT(pass(), IsEmpty());
}

TEST_F(StartCandidatesTest, TasksAreTriedInTheOrderOfTheirAssignment) {
  launch(1);
  launch(2);
  for (const std::uint64_t id : {1, 2, 3}) submit(id);
  assign(3, 1);
  assign(1, 2);
  assign(2, 1);
  EXPECT_THAT(pass(), ElementsAre(3, 1, 2));
}

TEST_F(StartCandidatesTest, WhatAnInstanceIsMeantForIsTriedWhenItIsReady) {
  launch(1);
  launch(2);
  submit(1);
  submit(2);
  assign(1, 1);
  assign(2, 2);
  pass();
  ready(2);
  EXPECT_THAT(pass(), ElementsAre(2));
}

TEST_F(StartCandidatesTest, WhatATaskLeavesIsForThoseThatWaitForRoomThere) {
  launch(1);
  ready(1);
  for (const std::uint64_t id : {1, 2, 3}) submit(id);
  assign(1, 1);
  start(1, 1);
  happen(TaskStarted{TaskId{1}, 1, {}, {}});
  assign(2, 1);
  assign(3, 1);
  const Refusal room{RefusalKind::not_now, RefusalCode::awaiting_capacity, Resource::cpu, 2, 0};
  happen(TaskRefused{TaskId{2}, room});
  happen(TaskRefused{TaskId{3}, room});
  pass();
  EXPECT_THAT(pass(), IsEmpty());
  happen(TaskFinished{TaskId{1}, 1, {}});
  EXPECT_THAT(pass(), ElementsAre(2, 3));
}

TEST_F(StartCandidatesTest, AGangIsTriedWholeWhenNothingKeepsItAnyMore) {
  launch(1);
  launch(2);
  submit(1, 2);
  assign(1, 1);
  assign(101, 2);
  pass();
  happen(InstanceUp{InstanceId{1}});
  pass();
  happen(InstanceUp{InstanceId{2}});
  EXPECT_THAT(pass(), ElementsAre(1, 101));
}

TEST_F(StartCandidatesTest, AfterARestartEverythingAssignedIsTried) {
  launch(1);
  submit(1);
  submit(2);
  assign(2, 1);
  assign(1, 1);
  candidates_ = StartCandidates();
  candidates_.mark_all(state_);
  EXPECT_THAT(pass(), ElementsAre(2, 1));
}

TEST_F(StartCandidatesTest, WhatATryChangesForLaterOnesIsSeenByTheSamePass) {
  launch(1);
  ready(1);
  submit(1);
  submit(2);
  assign(1, 1);
  assign(2, 1);
  candidates_.begin_pass(state_);
  ASSERT_TRUE(candidates_.next(state_));
  start(1, 1);
  const auto next = candidates_.next(state_);
  ASSERT_TRUE(next);
  EXPECT_EQ(state_.task(*next).id, TaskId{2});
}

}  // namespace
}  // namespace muster

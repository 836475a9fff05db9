#include "masters/claims/claims.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;

class ClaimsTest : public test::MasterPartsTest {
 protected:
  ClaimsTest() {
    settings_.starve_after = std::chrono::minutes{5};
    begin();
  }
  /// Runs task 1, which has to leave, and refuses it for want of instances before it has left.
  void refuse_while_it_leaves() {
    ready(0);
    submit(1);
    run(1, 0);
    happen(TaskUnassigned{TaskId{1}, {CauseCode::evicted, 0}});
    happen(StopIssued{TaskId{1}, 1});
    happen(TaskRefused{TaskId{1}, kNoInstance});
  }
  void leave() { happen(TaskCheckpointed{TaskId{1}, 1, {}, {}}); }

  static constexpr Refusal kNoInstance{RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0};
};

TEST_F(ClaimsTest, ATaskThatWasRefusedWhileItLeftWaitsForRoomOnceItHasLeft) {
  refuse_while_it_leaves();
  EXPECT_EQ(facts().claims.wait_of(JobId{1}), nullptr) << "it has a place still";
  leave();
  ASSERT_EQ(task(1).phase, TaskPhase::pending);
  ASSERT_NE(facts().claims.wait_of(JobId{1}), nullptr);
  EXPECT_EQ(facts().claims.wait_of(JobId{1})->short_of, kNoInstance);
}

TEST_F(ClaimsTest, ATaskOfAJobOnHoldDoesNot) {
  refuse_while_it_leaves();
  happen(JobHeld{JobId{1}});
  leave();
  EXPECT_EQ(facts().claims.wait_of(JobId{1}), nullptr);
}

/// Job 2 waits for room, and job 1 runs on instance 0.
class LostPlaceTest : public ClaimsTest {
 protected:
  LostPlaceTest() {
    ready(0);
    submit(1);
    submit(2);
    run(1, 0);
  }
  void refuse_the_other() { happen(TaskRefused{TaskId{2}, kNoInstance}); }
  bool waits() const { return facts().claims.wait_of(JobId{1}) != nullptr; }
  std::vector<JobId> due() const {
    const Instant later = at_s(0) + std::chrono::hours{1};
    return facts().claims.due(state(), {later, {}}, 9);
  }
};

TEST_F(LostPlaceTest, AJobWhoseInstanceGoesWaitsBeforeThoseThatCameAfterIt) {
  refuse_the_other();
  happen(InstanceGone{InstanceId{0}});
  ASSERT_EQ(task(1).phase, TaskPhase::pending);
  EXPECT_THAT(due(), ElementsAre(JobId{1}, JobId{2})) << "and no round has refused it";
}

TEST_F(LostPlaceTest, AJobThatMayBePlacedAtOnceWaitsForNoRoom) {
  happen(InstanceGone{InstanceId{0}});
  EXPECT_FALSE(waits());
}

TEST_F(LostPlaceTest, AJobWhoseTaskIsTriedAgainWaits) {
  refuse_the_other();
  happen(TaskFailed{TaskId{1}, 1, ""});
  EXPECT_TRUE(waits());
}

TEST_F(LostPlaceTest, AJobThatComesBackLeavesTheClaimOfTheOneThatWaits) {
  refuse_the_other();
  happen(RoomClaimed{JobId{2}, TaskId{2}, kNoInstance, 1, {}, {}});
  ASSERT_NE(facts().claims.kept(), nullptr);
  for (int time = 0; time < 3; ++time) {
    happen(TaskFailed{TaskId{1}, static_cast<Attempt>(time + 1), ""});
    EXPECT_TRUE(due().empty()) << "though it came before";
    assign(1, 0);
    happen(StartIssued{TaskId{1}, InstanceId{0}, static_cast<Attempt>(time + 2), kGrant});
    happen(TaskStarted{TaskId{1}, static_cast<Attempt>(time + 2), {}, {}});
  }
  EXPECT_EQ(facts().claims.kept()->place.job, JobId{2});
}

TEST_F(LostPlaceTest, ATaskThatRestsBeforeItIsTriedAgainDoesNotWait) {
  refuse_the_other();
  TaskFailed failed{TaskId{1}, 1, ""};
  failed.retry_at = at_s(1000);
  happen(failed);
  EXPECT_FALSE(waits());
}

TEST_F(LostPlaceTest, AJobWhoseLaunchIsRefusedWaitsWhateverTheReason) {
  refuse_the_other();
  happen(TaskFailed{TaskId{1}, 1, ""});
  launch(7);
  assign(1, 7);
  ASSERT_FALSE(waits());
  happen(
      LaunchRefused{InstanceId{7}, {RefusalKind::not_now, RefusalCode::cloud_throttled, {}, 0, 0}});
  EXPECT_TRUE(waits());
}

TEST_F(LostPlaceTest, ATaskThatWasToMoveToARefusedInstanceRunsOnAndDoesNotWait) {
  refuse_the_other();
  launch(7);
  assign(1, 7);
  happen(
      LaunchRefused{InstanceId{7}, {RefusalKind::not_now, RefusalCode::cloud_throttled, {}, 0, 0}});
  ASSERT_EQ(task(1).phase, TaskPhase::running);
  EXPECT_FALSE(waits());
}

TEST_F(LostPlaceTest, NorDoesOneThatWasToMoveToAnInstanceForWhichTheCloudIsFull) {
  refuse_the_other();
  launch(7);
  assign(1, 7);
  happen(LaunchRefused{InstanceId{7}, kNoInstance});
  ASSERT_EQ(task(1).phase, TaskPhase::running);
  EXPECT_FALSE(waits());
}

TEST_F(LostPlaceTest, AJobThatHasEndedDoesNotWait) {
  refuse_the_other();
  TaskFailed failed{TaskId{1}, 1, ""};
  failed.for_good = true;
  happen(failed);
  EXPECT_FALSE(waits());
}

TEST_F(LostPlaceTest, AJobThatIsReleasedWaitsInItsPlace) {
  happen(TaskFailed{TaskId{1}, 1, ""});
  happen(JobHeld{JobId{1}});
  refuse_the_other();
  EXPECT_FALSE(waits());
  happen(JobReleased{JobId{1}});
  EXPECT_THAT(due(), ElementsAre(JobId{1}, JobId{2}));
}

TEST_F(LostPlaceTest, AJobThatHasAPlaceElsewhereDoesNotWait) {
  refuse_the_other();
  ready(1);
  assign(1, 1);
  happen(InstanceGone{InstanceId{0}});
  EXPECT_EQ(task(1).phase, TaskPhase::assigned);
  EXPECT_FALSE(waits());
}

}  // namespace
}  // namespace muster

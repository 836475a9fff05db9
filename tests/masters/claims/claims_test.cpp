#include "masters/claims/claims.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

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

}  // namespace
}  // namespace muster

#include "masters/tasks/restarts.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using test::at_s;

/// Job 1 is a service of one replica, whose attempt has just ended for the second time.
class RestartsTest : public test::MasterPartsTest {
 protected:
  RestartsTest() {
    begin();
    restarts_.emplace(*recorder_);
    ready(0);
    Job job = test::JobBuilder(1).build();
    job.kind = ServiceSpec{};
    happen(JobAccepted{job});
    run(1, 0);
    clock_s_ = 100;
    TaskFailed ended{TaskId{1}, 1, "it has ended"};
    ended.retry_at = at_s(110);
    happen(ended);
    forget();
  }

  std::optional<Restarts> restarts_;
};

TEST_F(RestartsTest, AReplicaThatRestsIsReleasedAtItsTime) {
  EXPECT_EQ(task(1).phase, TaskPhase::capped);
  EXPECT_EQ(restarts_->next(), at_s(110));
  EXPECT_FALSE(restarts_->release_due(at_s(109)));
  EXPECT_TRUE(restarts_->release_due(at_s(110)));
  EXPECT_EQ(events<TaskReleased>().size(), 1U);
  EXPECT_EQ(task(1).phase, TaskPhase::pending);
  EXPECT_FALSE(restarts_->next());
}

TEST_F(RestartsTest, OneThatItsUserHoldsRestsOnWhenItIsLetGo) {
  happen(JobHeld{JobId{1}});
  EXPECT_FALSE(restarts_->release_due(at_s(105)));
  happen(JobReleased{JobId{1}});
  EXPECT_EQ(task(1).phase, TaskPhase::capped);
  EXPECT_EQ(restarts_->next(), at_s(110));
  EXPECT_TRUE(restarts_->release_due(at_s(111)));
}

TEST_F(RestartsTest, OneThatIsHeldPastItsTimeIsReleasedWithItsJob) {
  happen(JobHeld{JobId{1}});
  EXPECT_FALSE(restarts_->release_due(at_s(200)));
  EXPECT_EQ(task(1).phase, TaskPhase::held);
  happen(JobReleased{JobId{1}});
  EXPECT_TRUE(restarts_->release_due(at_s(201)));
  EXPECT_EQ(task(1).phase, TaskPhase::pending);
}

TEST_F(RestartsTest, OneWhoseServiceIsOverIsForgotten) {
  happen(JobTerminating{JobId{1}, JobOutcome::cancelled});
  happen(JobFinished{JobId{1}, JobOutcome::cancelled, 1, 0});
  forget();
  EXPECT_FALSE(restarts_->release_due(at_s(500)));
  EXPECT_TRUE(events<TaskReleased>().empty());
}

TEST_F(RestartsTest, AfterARestartOfTheMasterItsTimeIsKnown) {
  Restarts anew(*recorder_);
  anew.restored(facts());
  EXPECT_EQ(anew.next(), at_s(110));
}

}  // namespace
}  // namespace muster

#include "masters/actor/worker_news.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/masters/actor/actor_parts.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;

/// The task of job 1 is placed on instance 0, which is up.
class WorkerNewsTest : public test::ActorPartsTest {
 protected:
  WorkerNewsTest() {
    cloud_->start();
    cloud_->hear(report(CloudReportKind::clock));
    order_one();
    cloud_->hear(report(CloudReportKind::up));
    said();
  }
  TaskPhase phase() const { return master_->state().find(TaskId{1})->phase; }
};

TEST_F(WorkerNewsTest, AHelloMakesTheInstanceReadyAndAnOldOneChangesNothing) {
  workers_->greet(hello(2), worker_);
  EXPECT_THAT(said(), ElementsAre("monitor"));
  EXPECT_EQ(phase(), TaskPhase::starting);
  WorkerHello old = hello(1);
  old.known.push_back(attempt(WorkerReportKind::finished));
  workers_->greet(old, worker_);
  EXPECT_EQ(phase(), TaskPhase::starting) << "what it says may be out of date";
}

TEST_F(WorkerNewsTest, AHelloSaysOnceThatCheckpointsStayOnTheMachine) {
  const auto is_apart = [this] { return master_->state().find(InstanceId{0})->own_checkpoints; };
  workers_->greet(hello(1), worker_);
  EXPECT_FALSE(is_apart());
  WorkerHello apart = hello(2);
  apart.own_checkpoints = true;
  workers_->greet(apart, worker_);
  EXPECT_TRUE(is_apart());
  workers_->greet(hello(3), worker_);
  EXPECT_TRUE(is_apart()) << "what was saved until then is on it nevertheless";
}

TEST_F(WorkerNewsTest, AHelloTellsWhatHasBecomeOfAttempts) {
  workers_->greet(hello(1), worker_);
  WorkerHello again = hello(2);
  again.known.push_back(attempt(WorkerReportKind::started));
  workers_->greet(again, worker_);
  EXPECT_EQ(phase(), TaskPhase::running);
}

TEST_F(WorkerNewsTest, TheWorkerOfAnInstanceThatIsGoneHasToStopAndTheInstanceIsEnded) {
  WorkerHello stranger = hello(1, 9);
  WorkerReport running = attempt(WorkerReportKind::started);
  running.instance = InstanceId{9};
  running.task = TaskId{77};
  WorkerReport over = running;
  over.kind = WorkerReportKind::finished;
  stranger.known = {running, over};
  workers_->greet(stranger, worker_);
  EXPECT_THAT(said(), ElementsAre("stop 77", "end 9"));
  EXPECT_EQ(links_.on(InstanceId{9}), nullptr);
}

TEST_F(WorkerNewsTest, AWorkerSpeaksOfAttemptsOnItsOwnInstanceOnly) {
  workers_->greet(hello(1), worker_);
  WorkerReport lie = attempt(WorkerReportKind::finished);
  lie.instance = InstanceId{5};
  workers_->hear(lie);
  EXPECT_EQ(phase(), TaskPhase::starting);
  workers_->hear(attempt(WorkerReportKind::finished));
  EXPECT_EQ(master_->state().find(TaskId{1}), nullptr) << "its job is over";
}

TEST_F(WorkerNewsTest, AnInstanceWhoseWorkerIsSilentForTooLongIsGivenUp) {
  workers_->greet(hello(1), worker_);
  host_.run_until_s(25);  // the cloud has no more to answer
  said();
  workers_->lose(worker_.address());
  host_.run_until_s(29.9);
  EXPECT_THAT(said(), ElementsAre("launch 0", "launch 0")) << "the cloud is asked after it";
  host_.run_until_s(124);
  EXPECT_FALSE(master_->state().find(InstanceId{0})->released);
  host_.run_until_s(126);
  EXPECT_TRUE(master_->state().find(InstanceId{0})->released);
}

TEST_F(WorkerNewsTest, AWorkerThatComesBackInTimeIsKept) {
  workers_->greet(hello(1), worker_);
  workers_->lose(worker_.address());
  host_.run_until_s(50);
  workers_->greet(hello(2), worker_);
  host_.run_until_s(300);
  EXPECT_FALSE(master_->state().find(InstanceId{0})->released);
}

TEST_F(WorkerNewsTest, AWorkerThatRejectsIsAskedWhatItHasAndGivenUpAfterFiveInARow) {
  workers_->greet(hello(1), worker_);
  said();
  for (int i = 0; i < 4; ++i) workers_->hear(attempt(WorkerReportKind::rejected));
  const std::vector<std::string> heard = said();
  EXPECT_EQ(std::count(heard.begin(), heard.end(), "greet the worker"), 4);
  EXPECT_FALSE(master_->state().find(InstanceId{0})->released);
  workers_->hear(attempt(WorkerReportKind::rejected));
  EXPECT_TRUE(master_->state().find(InstanceId{0})->released);
}

/// Job 1 is a service, the second attempt of whose replica has just ended at once. The clock was
/// set back by an hour before the master was started.
class RestNewsTest : public test::ActorPartsTest {
 protected:
  RestNewsTest() {
    host_.stamp_ahead = std::chrono::hours{1};
    host_.on_commit = [this] {
      const Commit commit = master_->commit();
      note(commit);
      workers_->watch_services(commit.events);
    };
    Job job = test::JobBuilder(1).build();
    job.kind = ServiceSpec{};
    cloud_->start();
    cloud_->hear(report(CloudReportKind::clock));
    EXPECT_EQ(master_->submit(job, host_.stamp()), SubmitResult::accepted);
    hold_round(together({1}));
    cloud_->hear(report(CloudReportKind::up));
    workers_->greet(hello(1), worker_);
    end(1);
    Plan again;
    again.places.push_back({TaskId{1}, InstanceId{0}, {}});
    hold_round(again);
    end(2);
  }
  void hold_round(Plan plan) {
    script_.plans.push_back(std::move(plan));
    master_->round({}, host_.stamp());
    host_.commit();
  }
  void end(Attempt number) {
    WorkerReport ended = attempt(WorkerReportKind::failed);
    ended.attempt = number;
    workers_->hear(ended);
  }
  TaskPhase phase() const { return master_->state().find(TaskId{1})->phase; }
};

TEST_F(RestNewsTest, AReplicaRestsNoLongerWhereTheClockWasSetBack) {
  EXPECT_EQ(phase(), TaskPhase::capped);
  host_.run_until_s(9.9);
  EXPECT_EQ(phase(), TaskPhase::capped);
  host_.run_until_s(10.1);
  EXPECT_EQ(phase(), TaskPhase::pending);
}

}  // namespace
}  // namespace muster

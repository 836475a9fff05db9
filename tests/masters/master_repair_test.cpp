// How a master goes on when workers are lost, when money runs out, and when nothing happens.

#include <gtest/gtest.h>

#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;
using test::MasterTest;

TEST_F(MasterTest, AnAttemptThatItsWorkerDoesNotKnowAnyMoreCountsAgainstNobody) {
  one_running(1);
  for (Attempt attempt = 1; attempt <= 5; ++attempt) {
    master_->compare_attempts(InstanceId{0}, {}, now());
    EXPECT_EQ(master_->state().find(TaskId{1})->phase, TaskPhase::pending);
    Plan again;
    again.places.push_back({TaskId{1}, InstanceId{0}, {}});
    round(std::move(again));
    started(1, attempt + 1);
  }
  commit();
  ASSERT_NE(master_->state().find(JobId{1}), nullptr);
  EXPECT_FALSE(master_->state().find(JobId{1})->given_up);
  EXPECT_EQ(master_->task_history(TaskId{1})->failures, 0U);
}

TEST_F(MasterTest, AnAbandonedInstanceIsEndedWithWhatIsOnItAndItsTasksWaitUntilItIsGone) {
  one_running(1);
  EXPECT_TRUE(master_->abandon(InstanceId{0}, CauseCode::worker_lost, now()));
  const std::vector<Effect> effects = commit();
  EXPECT_EQ(count<EndInstance>(effects), 1U);
  EXPECT_EQ(master_->state().find(TaskId{1})->phase, TaskPhase::stopping);
  EXPECT_TRUE(master_->abandon(InstanceId{0}, CauseCode::worker_lost, now()));
  EXPECT_EQ(count<EndInstance>(commit()), 0U);
  master_->instance_gone(InstanceId{0}, {}, now());
  EXPECT_EQ(master_->state().find(TaskId{1})->phase, TaskPhase::pending);
}

TEST_F(MasterTest, TheDaysCapIsKeptByCheckpointsFirstAndByForceInTime) {
  // it3 costs 0.8 $/h; the margins are 5 minutes and 31 s (30 s, and 1 s of the type).
  make_master({.max_usd_day = 0.8});
  one_running(1);
  const auto left = [&] { return to_seconds(*master_->until_cap(at_s(10))); };
  const double up_s = to_seconds(master_->up_since(InstanceId{0})->time_since_epoch());
  EXPECT_NEAR(left(), up_s + 3600 - 331 - 10, 1e-6);
  const double soft_s = up_s + 3600 - 331;
  master_->keep_caps(at_s(soft_s - 0.001), at_s(soft_s - 0.001));
  EXPECT_TRUE(commit().empty());
  master_->keep_caps(at_s(soft_s), at_s(soft_s));
  EXPECT_EQ(count<StopTask>(commit()), 1U);
  EXPECT_NEAR(to_seconds(*master_->until_cap(at_s(soft_s))), 300, 1e-6);
  master_->keep_caps(at_s(soft_s + 300), at_s(soft_s + 300));
  EXPECT_EQ(count<EndInstance>(commit()), 1U);
  EXPECT_FALSE(master_->until_cap(at_s(soft_s + 300)));
}

TEST_F(MasterTest, WhatIsNotKnownToBeUpIsTakenToBeBilledSinceItWasOrdered) {
  make_master({.max_usd_day = 0.8});
  master_->accept(JobBuilder(1).build(), now());
  const double ordered_s = clock_s_;
  round(together({1}));
  EXPECT_NEAR(to_seconds(*master_->until_cap(at_s(ordered_s + 100))), 3600 - 331 - 100, 1e-6);
}

TEST_F(MasterTest, ADayThatIsTooShortForItsCapIsNotWatched) {
  make_master({.max_usd_day = 24 * 0.8 + 1});
  one_running(1);
  EXPECT_FALSE(master_->until_cap(at_s(10)));
  // The first day ends before the cap is reached; the second one does not.
  make_master({.max_usd_day = 20 * 0.8});
  clock_s_ = 12 * 3600.0;
  one_running(1);
  EXPECT_NEAR(to_seconds(*master_->until_cap(at_s(12 * 3600.0 + 60))),
              12 * 3600 - 60 + 20 * 3600 - 331, 1e-6);
}

TEST_F(MasterTest, QuietRoundsNeedNotBeHeldAndCountAsIfTheyHadBeen) {
  script_.settled = true;
  one_running(1);
  const std::vector<ThroughputSample> samples{{TaskId{1}, 0.5}};
  master_->round(samples, at_s(300));
  EXPECT_TRUE(master_->calm());
  EXPECT_TRUE(master_->would_repeat(samples));
  EXPECT_FALSE(master_->would_repeat(std::vector<ThroughputSample>{{TaskId{1}, 0.75}}));
  // Those at 600, 900 and 1200 s are not held; then the task ends.
  master_->task_finished({TaskId{1}, 1, {}}, at_s(1250));
  EXPECT_FALSE(master_->calm());
  master_->round({}, at_s(1500));
  commit();
  std::vector<std::uint64_t> quiet;
  std::uint64_t measured = 0;
  for (const Event& event : events_) {
    if (const auto* shown = std::get_if<Measured>(&event.body)) measured += shown->rounds();
    if (const auto* round = std::get_if<RoundDecided>(&event.body)) quiet.push_back(round->quiet);
    if (const auto* over = std::get_if<JobFinished>(&event.body)) {
      EXPECT_EQ(over->throughput_samples, 4U);
      EXPECT_EQ(over->mean_throughput, 0.5);
    }
  }
  EXPECT_EQ(quiet, (std::vector<std::uint64_t>{0, 0, 3}));
  EXPECT_EQ(measured, 4U);
}

TEST_F(MasterTest, ItIsNotCalmWhileATaskWaitsOrThePolicyIsNotSettled) {
  one_running(1);
  master_->round({}, at_s(300));
  EXPECT_FALSE(master_->calm());
  script_.settled = true;
  master_->accept(JobBuilder(2).build(), at_s(400));
  master_->round({}, at_s(600));
  EXPECT_FALSE(master_->calm());
}

}  // namespace
}  // namespace muster

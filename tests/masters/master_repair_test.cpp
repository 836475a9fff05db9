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
    master_->news().compare(InstanceId{0}, {}, now());
    EXPECT_EQ(master_->state().find(TaskId{1})->phase, TaskPhase::pending);
    Plan again;
    again.places.push_back({TaskId{1}, InstanceId{0}, {}});
    round(std::move(again));
    started(1, attempt + 1);
  }
  commit();
  ASSERT_NE(master_->state().find(JobId{1}), nullptr);
  EXPECT_FALSE(master_->state().find(JobId{1})->terminal_outcome);
  EXPECT_EQ(master_->facts().task_history(TaskId{1})->failures, 0U);
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
  const double up_s = to_seconds(master_->facts().up_since(InstanceId{0})->time_since_epoch());
  EXPECT_NEAR(left(), up_s + 3600 - 331 - 10, 1e-6);
  const double soft_s = up_s + 3600 - 331;
  master_->keep_caps(at_s(soft_s - 0.001));
  EXPECT_TRUE(commit().empty());
  master_->keep_caps(at_s(soft_s));
  EXPECT_EQ(count<StopTask>(commit()), 1U);
  EXPECT_NEAR(to_seconds(*master_->until_cap(at_s(soft_s))), 300, 1e-6);
  master_->keep_caps(at_s(soft_s + 300));
  const Commit forced = master_->commit();
  EXPECT_EQ(count<EndInstance>(forced.effects), 1U);
  EXPECT_EQ(forced.at_once.size(), 1U) << "the order does not wait for the disk";
  EXPECT_FALSE(master_->until_cap(at_s(soft_s + 300)));
  master_->end_at_once();
  EXPECT_EQ(master_->commit().at_once.size(), 1U) << "it is repeated";
  master_->instance_gone(InstanceId{0}, {}, at_s(soft_s + 310));
  commit();
  master_->end_at_once();
  EXPECT_TRUE(master_->commit().at_once.empty());
}

TEST_F(MasterTest, WhatIsEndingAlreadyIsEndedAtOnceTooWhenTheMoneyIsSpent) {
  make_master({.max_usd_day = 0.8});
  one_running(1);
  const double soft_s =
      to_seconds(master_->facts().up_since(InstanceId{0})->time_since_epoch()) + 3269;
  master_->keep_caps(at_s(soft_s));
  master_->task_checkpointed({TaskId{1}, 1, {}, {}}, at_s(soft_s + 5));
  EXPECT_EQ(count<EndInstance>(commit()), 1U) << "that order may wait for a disk for long";
  EXPECT_NEAR(to_seconds(*master_->until_cap(at_s(soft_s + 5))), 295, 1e-6);
  master_->keep_caps(at_s(soft_s + 300));
  EXPECT_EQ(master_->commit().at_once.size(), 1U);
}

TEST_F(MasterTest, TheDayOfTheCapIsThatOfTheCloudsClock) {
  constexpr auto kAhead = std::chrono::hours{2};
  make_master({.max_usd_day = 0.8});
  master_->set_cloud_ahead(kAhead);
  clock_s_ = 21 * 3600;
  const double ordered_s = clock_s_ + 1;
  master_->submit(JobBuilder(1).build(), now());
  round(together({1}));
  EXPECT_NEAR(to_seconds(*master_->until_cap(at_s(ordered_s + 100))), 3600 - 331 - 100, 1e-6)
      << "what is not known to be up counts from its order";
  const Instant up = at_s(ordered_s + 200);
  master_->instance_up(InstanceId{0}, up + kAhead, up);
  EXPECT_NEAR(to_seconds(*master_->until_cap(up)), 3600 - 331, 1e-6);
  EXPECT_NEAR(master_->ledger().accrued(master_->state(), up + std::chrono::minutes{30}).usd(), 0.4,
              1e-9);
  // Midnight for the cloud: a new day's money.
  const Instant midnight = at_s(22 * 3600);
  EXPECT_NEAR(master_->spent_today(midnight + std::chrono::minutes{15}).usd(), 0.2, 1e-9);
  // The cloud is started anew with a clock that shows the day before again.
  master_->instance_gone(InstanceId{0}, midnight + kAhead + std::chrono::minutes{15},
                         midnight + std::chrono::minutes{15});
  EXPECT_NEAR(master_->spent_today(midnight + std::chrono::minutes{16}).usd(), 0.2, 1e-9);
  master_->set_cloud_ahead(kAhead - std::chrono::hours{1});
  EXPECT_NEAR(master_->spent_today(midnight + std::chrono::minutes{16}).usd(),
              0.8 * to_hours(midnight - up), 1e-9);
}

TEST_F(MasterTest, ADaysCapThatWasReachedHoldsNobodyUpOnceItIsRaised) {
  make_master({.max_usd_day = 0.8});
  one_running(1);
  clock_s_ = to_seconds(master_->facts().up_since(InstanceId{0})->time_since_epoch()) + 3600 - 31;
  master_->keep_caps(now());
  master_->instance_gone(InstanceId{0}, {}, now());
  commit();
  const MasterSnapshot snapshot = master_->snapshot();
  for (const double cap_usd : {0.8, 80.0}) {
    make_master({.max_usd_day = cap_usd});
    master_->restore(snapshot, {});
    master_->submit(JobBuilder(2).build(), now());
    EXPECT_EQ(count<LaunchInstance>(round(together({2}))), cap_usd > 1 ? 1U : 0U) << cap_usd;
  }
}

TEST_F(MasterTest, WhereADaysMoneyIsCappedNothingIsRentedBeforeTheCloudsClockIsKnown) {
  make_master({.max_usd_day = 80});
  master_->know_cloud_clock(false);
  master_->submit(JobBuilder(1).build(), now());
  EXPECT_EQ(count<LaunchInstance>(round(together({1}))), 0U);
  EXPECT_EQ(master_->state().find(TaskId{1})->reason.code, RefusalCode::cloud_capacity);
  master_->know_cloud_clock(true);
  EXPECT_EQ(count<LaunchInstance>(round(together({1}))), 1U);
}

TEST_F(MasterTest, WhatIsNotKnownToBeUpIsTakenToBeBilledSinceItWasOrdered) {
  make_master({.max_usd_day = 0.8});
  master_->submit(JobBuilder(1).build(), now());
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

TEST_F(MasterTest, QuietRoundsAfterALostDecisionMeasureNoTaskThatHasEnded) {
  script_.settled = true;
  one_running(1);
  // The decision never comes, as after a restart; its task ends before the next one.
  ASSERT_TRUE(master_->begin_round(std::vector<ThroughputSample>{{TaskId{1}, 0.5}}, at_s(300)));
  master_->task_finished({TaskId{1}, 1, {}}, at_s(400));
  master_->submit(JobBuilder(2).build(), at_s(450));
  master_->round({}, at_s(600));
  ASSERT_TRUE(master_->facts().calm);
  master_->submit(JobBuilder(3).build(), at_s(1300));
  commit();
  for (const Event& event : events_) {
    const auto* shown = std::get_if<Measured>(&event.body);
    EXPECT_TRUE(shown == nullptr || shown->quiet == 0 || shown->samples.empty());
  }
}

TEST_F(MasterTest, ItIsNotCalmWhileATaskWaitsOrThePolicyIsNotSettled) {
  one_running(1);
  master_->round({}, at_s(300));
  EXPECT_FALSE(master_->calm());
  script_.settled = true;
  master_->submit(JobBuilder(2).build(), at_s(400));
  master_->round({}, at_s(600));
  EXPECT_FALSE(master_->calm());
}

}  // namespace
}  // namespace muster

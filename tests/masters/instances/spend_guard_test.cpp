#include "masters/instances/spend_guard.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::at_s;

constexpr double kHour = 3600;
constexpr double kMidnight = 24 * kHour;
// it3 costs 0.8 $/h. The margins are 5 minutes, and 31 s: 30 s, and 1 s of the type.
constexpr double kMargin = 300;
constexpr double kEnd = 31;

class SpendGuardTest : public test::MasterPartsTest {
 protected:
  SpendGuardTest() { make(0.8); }
  void make(double max_usd_day) {
    settings_.caps.max_usd_day = max_usd_day;
    begin();
    cloud_.emplace(*recorder_, 0);
    guard_.emplace(*recorder_, *cloud_, settings_.caps);
  }
  /// Ordered, up and ready at about that time.
  void rent(std::uint64_t id, double at) {
    clock_s_ = at - 1;
    ready(id, "it3");
  }
  double left(double at) const { return to_seconds(*guard_->until_due(at_s(at))); }
  std::size_t ended_at_once() {
    forget();
    guard_->repeat_ends();
    return recorder_->commit().at_once.size();
  }

  std::optional<CloudOrders> cloud_;
  std::optional<SpendGuard> guard_;
};

TEST_F(SpendGuardTest, WithoutACapNothingIsEverDueAndTheDayNeedNotBeKnown) {
  make(0);
  rent(0, 100);
  guard_->know_cloud_clock(false);
  EXPECT_TRUE(guard_->knows_day());
  EXPECT_EQ(guard_->due(at_s(100 * kMidnight)), CapStep::none);
  EXPECT_FALSE(guard_->until_due(at_s(200)));
  EXPECT_EQ(guard_->spent_today_usd(at_s(200)), 0);
}

TEST_F(SpendGuardTest, WhatIsOwnedCostsTheDayNothing) {
  settings_.caps.max_usd_day = 0.8;
  settings_.rent_beyond_fleet = true;
  begin({{it3(), Market::on_demand, 1}});
  cloud_.emplace(*recorder_, 0);
  guard_.emplace(*recorder_, *cloud_, settings_.caps);
  happen(LaunchRequested{
      InstanceId{0}, it3(), Market::on_demand, Price::from_usd_h(0.8), {CauseCode::fleet, 0}});
  up(0);
  EXPECT_EQ(guard_->due(at_s(2 * kHour)), CapStep::none);
  EXPECT_FALSE(guard_->until_due(at_s(2 * kHour)));
  EXPECT_EQ(guard_->spent_today_usd(at_s(2 * kHour)), 0);
  rent(1, 2 * kHour);
  EXPECT_NEAR(guard_->spent_today_usd(at_s(3 * kHour)), 0.8, 0.001);
}

TEST_F(SpendGuardTest, WithACapTheDayHasToBeKnown) {
  EXPECT_TRUE(guard_->knows_day());
  guard_->know_cloud_clock(false);
  EXPECT_FALSE(guard_->knows_day());
}

TEST_F(SpendGuardTest, CheckpointsAreDueFirstAndTheEndInTime) {
  rent(0, 100);
  const double spent_at = 100 + kHour;
  EXPECT_NEAR(left(200), spent_at - kMargin - kEnd - 200, 1e-6);
  EXPECT_EQ(guard_->due(at_s(spent_at - kMargin - kEnd - 0.01)), CapStep::none);
  EXPECT_EQ(guard_->due(at_s(spent_at - kMargin - kEnd)), CapStep::save);
  EXPECT_EQ(guard_->due(at_s(spent_at - kEnd - 0.01)), CapStep::save);
  EXPECT_EQ(guard_->due(at_s(spent_at - kEnd)), CapStep::end);
}

TEST_F(SpendGuardTest, OnceAllIsReleasedTheEndIsWhatIsDueNext) {
  rent(0, 100);
  happen(ReleaseDecided{InstanceId{0}, {}});
  EXPECT_NEAR(left(200), 100 + kHour - kEnd - 200, 1e-6);
  guard_->end_at_once(InstanceId{0});
  EXPECT_FALSE(guard_->until_due(at_s(200)));
}

TEST_F(SpendGuardTest, WhatIsNotKnownToBeUpCountsFromItsOrder) {
  clock_s_ = 100;
  launch(0, "it3");
  EXPECT_EQ(guard_->spent_today(at_s(100 + kHour / 2)).usd(), 0);
  EXPECT_NEAR(guard_->spent_today_usd(at_s(100 + kHour / 2)), 0.4, 1e-9);
}

TEST_F(SpendGuardTest, ANewDayHasNewMoneyByTheCloudsClock) {
  guard_->set_cloud_ahead(2h);
  clock_s_ = kMidnight - 2 * kHour - kHour / 2;
  launch(0, "it3");
  happen(InstanceUp{InstanceId{0}, at_s(kMidnight - kHour / 2), 2h});
  EXPECT_NEAR(guard_->spent_today(at_s(kMidnight - 2 * kHour - 1)).usd(), 0.4, 1e-3);
  EXPECT_NEAR(guard_->spent_today(at_s(kMidnight - 2 * kHour + 900)).usd(), 0.2, 1e-3);
}

TEST_F(SpendGuardTest, WhenTheCapIsReachedTheWholeDaysMoneyIsSpent) {
  rent(0, 100);
  const Cause cap{CauseCode::spend_cap, -0.8};
  const ReleaseDecided release = guard_->release(InstanceId{0}, cap, at_s(kHour));
  EXPECT_EQ(release.capped_day, 0);
  EXPECT_EQ(release.capped_usd, 0.8);
  clock_s_ = kHour;
  happen(release);
  happen(InstanceGone{InstanceId{0}, {}, CloudReason::ended});
  EXPECT_NEAR(guard_->spent_today_usd(at_s(kHour + 60)), 0.8, 1e-9);
  EXPECT_EQ(guard_->spent_today_usd(at_s(kMidnight + 60)), 0) << "that was yesterday";
  MasterSnapshot snapshot = recorder_->memory().snapshot();
  make(80);
  recorder_->restore(std::move(snapshot));
  EXPECT_LT(guard_->spent_today_usd(at_s(kHour + 60)), 0.8) << "the cap was raised";
}

TEST_F(SpendGuardTest, AnotherCauseDoesNotMarkTheDay) {
  rent(0, 100);
  const ReleaseDecided release = guard_->release(InstanceId{0}, {CauseCode::drained, 0}, now());
  EXPECT_EQ(release, (ReleaseDecided{InstanceId{0}, {CauseCode::drained, 0}}));
}

TEST_F(SpendGuardTest, AnEndIsOrderedAgainUntilTheInstanceIsGone) {
  rent(0, 100);
  launch(1, "it3");
  guard_->end_at_once(InstanceId{0});
  guard_->end_at_once(InstanceId{1});
  EXPECT_EQ(ended_at_once(), 2U);
  happen(LaunchRefused{InstanceId{1}, {}, {}});
  EXPECT_EQ(ended_at_once(), 1U);
  happen(InstanceGone{InstanceId{0}, {}, CloudReason::ended});
  EXPECT_EQ(ended_at_once(), 0U);
}

class DayLossesTest : public SpendGuardTest {
 protected:
  DayLossesTest() {
    for (const std::uint64_t id : {1, 2, 3, 4}) {
      Job job = test::JobBuilder(id).build();
      job.checkpoints = id > 2;
      happen(JobAccepted{job});
    }
    rent(0, 100);
    rent(1, 100);
    run(1, 0);
    run(2, 1);
  }
  /// The day's cap takes the task off its instance that time after it has started.
  void cut_off(std::uint64_t task, double after_s) {
    clock_s_ = to_seconds(this->task(task).started_at.time_since_epoch()) + after_s;
    happen(TaskUnassigned{TaskId{task}, {CauseCode::spend_cap, 0}});
  }
  double needed_s() const { return to_seconds(guard_->affordable_beside_others()); }
};

TEST_F(DayLossesTest, WhenTheCapEndsARunTheNextDayHasToPayForALongerOneBesideOthers) {
  const Duration before = guard_->affordable_time();
  cut_off(1, 2 * kHour);
  EXPECT_NEAR(needed_s(), 4 * kHour, 1e-6);
  EXPECT_EQ(guard_->affordable_time(), before);
}

TEST_F(DayLossesTest, ATaskThatKeepsItsWorkLosesNoDayUnlessItsMachineKeepsItToItself) {
  rent(2, 100);
  rent(3, 100);
  happen(OwnCheckpoints{InstanceId{2}});
  happen(TaskAssigned{TaskId{3}, InstanceId{2}, {}});
  happen(TaskUnassigned{TaskId{3}, {CauseCode::spend_cap, 0}});
  EXPECT_EQ(guard_->affordable_beside_others(), guard_->affordable_time()) << "it was on its way";
  run(3, 2);
  run(4, 3);
  cut_off(4, 2 * kHour);
  EXPECT_EQ(guard_->affordable_beside_others(), guard_->affordable_time());
  cut_off(3, 2 * kHour);
  EXPECT_NEAR(needed_s(), 4 * kHour, 1e-6);
}

TEST_F(DayLossesTest, AnotherCauseThanTheCapLosesNoDay) {
  happen(TaskUnassigned{TaskId{1}, {CauseCode::evicted, 0}});
  EXPECT_EQ(guard_->affordable_beside_others(), guard_->affordable_time());
}

TEST_F(DayLossesTest, OnceTheTaskHasEndedItsLossCountsNoMore) {
  cut_off(1, 2 * kHour);
  happen(StopIssued{TaskId{1}, 1});
  happen(TaskFinished{TaskId{1}, 1, {}});
  EXPECT_EQ(guard_->affordable_beside_others(), guard_->affordable_time());
}

TEST_F(DayLossesTest, ATaskThatHadTheDayToItselfKeepsNoOtherWaiting) {
  happen(TaskFinished{TaskId{2}, 1, {}});
  happen(ReleaseDecided{InstanceId{1}, {CauseCode::packed, 0}});
  happen(TerminateIssued{InstanceId{1}});
  happen(InstanceGone{InstanceId{1}, {}});
  cut_off(1, 2 * kHour);
  EXPECT_EQ(guard_->affordable_beside_others(), guard_->affordable_time());
}

TEST_F(SpendGuardTest, AnInstanceHasToBeAffordableUntilItIsUpSavedTwiceAndEnded) {
  EXPECT_EQ(guard_->affordable_time(), 110s + 2 * 300s + 31s);
}

}  // namespace
}  // namespace muster

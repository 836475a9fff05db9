#include "model/ledger.hpp"

#include <gtest/gtest.h>

#include "model/state_snapshot.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

class LedgerTest : public ::testing::Test {
 protected:
  void apply(double time_s, EventBody body) {
    const Event event{at_s(time_s), std::move(body)};
    ledger_.observe(event, state_);
    state_.apply(event);
  }
  void launch(double up_s, double ready_s) {
    const TypeId type = test::type_named(catalog_, "it3");
    apply(0, LaunchRequested{kHere, type, Market::on_demand, catalog_[type].on_demand, {}});
    apply(up_s, InstanceUp{kHere});
    apply(ready_s, InstanceReady{kHere});
  }
  void start(double time_s, std::uint64_t id) {
    apply(time_s, TaskAssigned{TaskId{id}, kHere, {}});
    apply(time_s, StartIssued{TaskId{id}, kHere, 1});
    apply(time_s, TaskStarted{TaskId{id}, 1, {}, {}});
  }
  /// The cloud's clock is so far ahead of the one of events; it says `from_s`, which is heard
  /// later.
  void launch_by_clock(double heard_s, double from_s, double ahead_s) {
    const TypeId type = test::type_named(catalog_, "it3");
    apply(0, LaunchRequested{kHere, type, Market::on_demand, catalog_[type].on_demand, {}});
    apply(heard_s, InstanceUp{kHere, at_s(from_s), from_seconds(ahead_s)});
  }
  void end(double released_s, double gone_s) {
    apply(released_s, ReleaseDecided{kHere, {}});
    apply(released_s, TerminateIssued{kHere});
    apply(gone_s, InstanceGone{kHere});
  }
  static Money it3_for(double seconds) {
    return Money::of(Price::from_usd_h(0.8), from_seconds(seconds));
  }
  Money parts() const {
    Money sum = ledger_.tasks();
    for (OverheadKind kind : {OverheadKind::boot, OverheadKind::idle, OverheadKind::drain,
                              OverheadKind::fragmentation}) {
      sum += ledger_.idleness(kind);
    }
    return sum;
  }

  static constexpr InstanceId kHere{0};
  Catalog catalog_ = test::table3_catalog();
  ClusterState state_{catalog_};
  Ledger ledger_;
};

TEST_F(LedgerTest, BillsFromUpToGoneAndSaysWhatForWhenNothingRan) {
  launch(10, 110);
  end(300, 301);
  EXPECT_TRUE(ledger_.total() == it3_for(291));
  EXPECT_TRUE(ledger_.idleness(OverheadKind::boot) == it3_for(100));
  EXPECT_TRUE(ledger_.idleness(OverheadKind::idle) == it3_for(190));
  EXPECT_TRUE(ledger_.idleness(OverheadKind::drain) == it3_for(1));
  EXPECT_TRUE(parts() == ledger_.total());
}

TEST_F(LedgerTest, ATaskPaysForItsDominantShareAndTheRestIsFragmentation) {
  launch(0, 0);
  apply(0, JobAccepted{JobBuilder(1).demand(Resources::of(0, 2, 4)).build()});
  start(0, 1);
  apply(100, TaskFinished{TaskId{1}, 1});
  end(100, 100);
  EXPECT_TRUE(ledger_.task(TaskId{1}) == it3_for(25));  // 2 of 8 cores for 100 s
  EXPECT_TRUE(ledger_.idleness(OverheadKind::fragmentation) == it3_for(75));
  EXPECT_TRUE(parts() == ledger_.total());
}

TEST_F(LedgerTest, TasksThatTogetherDominateMoreThanAllShareTheWhole) {
  launch(0, 0);
  apply(0, JobAccepted{JobBuilder(1).demand(Resources::of(0, 6, 4)).build()});
  apply(0, JobAccepted{JobBuilder(2).demand(Resources::of(0, 1, 24)).build()});
  start(0, 1);
  start(0, 2);
  apply(100, TaskFinished{TaskId{1}, 1});
  apply(100, TaskFinished{TaskId{2}, 1});
  end(100, 100);
  EXPECT_NEAR(ledger_.task(TaskId{1}).usd(), it3_for(50).usd(), 1e-12);
  EXPECT_NEAR(ledger_.task(TaskId{2}).usd(), it3_for(50).usd(), 1e-12);
  EXPECT_TRUE(parts() == ledger_.total());
}

TEST_F(LedgerTest, SaysWhatWillBeBookedToATaskThatRuns) {
  launch(0, 0);
  apply(0, JobAccepted{JobBuilder(1).demand(Resources::of(0, 6, 4)).build()});
  apply(0, JobAccepted{JobBuilder(2).demand(Resources::of(0, 1, 24)).build()});
  const auto unsettled = [&](std::uint64_t task, double s) {
    return ledger_.unsettled(TaskId{task}, *state_.find(kHere), at_s(s));
  };
  EXPECT_TRUE(unsettled(1, 50) == Money{}) << "it is not there";
  start(10, 1);
  start(60, 2);
  EXPECT_TRUE(unsettled(1, 60) == Money{}) << "all is booked until then";
  EXPECT_TRUE(unsettled(1, 50) == Money{}) << "and none is taken back";
  const Money first = ledger_.task(TaskId{1}) + unsettled(1, 100);
  const Money second = ledger_.task(TaskId{2}) + unsettled(2, 100);
  apply(100, TaskFinished{TaskId{1}, 1});
  apply(100, TaskFinished{TaskId{2}, 1});
  EXPECT_TRUE(ledger_.task(TaskId{1}) == first);
  EXPECT_TRUE(ledger_.task(TaskId{2}) == second);
  EXPECT_TRUE(unsettled(1, 200) == Money{});
}

/// Their costs are booked together, and each pays for the time that it was there.
TEST_F(LedgerTest, AlikeTasksOfAJobEachPayForTheirTime) {
  launch(0, 0);
  apply(0, JobAccepted{JobBuilder(1).tasks(4).gang(false).demand(Resources::of(0, 1, 4)).build()});
  apply(0, JobAccepted{JobBuilder(2).demand(Resources::of(0, 2, 4)).build()});
  for (const std::uint64_t id : {1, 101, 102, 2}) start(0, id);
  apply(80, TaskFinished{TaskId{101}, 1});
  start(80, 103);
  EXPECT_TRUE(ledger_.task(TaskId{1}) == it3_for(10));
  apply(160, TaskFinished{TaskId{1}, 1});
  apply(240, TaskFailed{TaskId{2}, 1, {}, {}, true});
  EXPECT_TRUE(ledger_.task(TaskId{1}) == it3_for(20));
  EXPECT_TRUE(ledger_.task(TaskId{101}) == it3_for(10));
  EXPECT_TRUE(ledger_.task(TaskId{102}) == it3_for(30)) << "runs on";
  EXPECT_TRUE(ledger_.task(TaskId{103}) == it3_for(20)) << "runs on";
  EXPECT_TRUE(ledger_.task(TaskId{2}) == it3_for(60));
  EXPECT_TRUE(ledger_.job(state_.find(JobId{1})->slot) == it3_for(80));
  EXPECT_TRUE(parts() == ledger_.total());
  const Ledger again = restore(snapshot_of(ledger_), state_);
  EXPECT_TRUE(again.task(TaskId{103}) == it3_for(20));
  EXPECT_TRUE(again.tasks() == ledger_.tasks());
}

TEST_F(LedgerTest, PartsAddUpToTheLastUnitForAwkwardShares) {
  launch(0.123456789, 7.000000001);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    apply(8, JobAccepted{JobBuilder(id).demand(Resources::of(0, 1.0 / 3, 1.7)).build()});
    start(8.5 + static_cast<double>(id) / 7, id);
  }
  for (std::uint64_t id = 1; id <= 3; ++id) {
    apply(50 + static_cast<double>(id) / 11, TaskFinished{TaskId{id}, 1});
  }
  end(77.7, 78.7);
  EXPECT_TRUE(parts() == ledger_.total());
}

TEST_F(LedgerTest, AnInstanceThatNeverCameUpCostsNothing) {
  apply(0, LaunchRequested{kHere, TypeId{0}, Market::on_demand, Price::from_usd_h(12), {}});
  apply(1, ReleaseDecided{kHere, {}});
  apply(1, TerminateIssued{kHere});
  apply(2, InstanceGone{kHere});
  EXPECT_TRUE(ledger_.total() == Money{});
}

TEST_F(LedgerTest, ACloudWhoseClockDiffersBooksToWhatItWas) {
  for (const double ahead_s : {3600.0, -3600.0}) {
    ledger_ = {};
    state_ = ClusterState(catalog_);
    launch_by_clock(5012, 5010 + ahead_s, ahead_s);
    apply(5110, InstanceReady{kHere});
    const auto charge = [&](double seconds) {
      return Money::of(state_.find(kHere)->price, from_seconds(seconds));
    };
    EXPECT_TRUE(ledger_.idleness(OverheadKind::boot) == charge(100)) << ahead_s;
    EXPECT_TRUE(ledger_.accrued(state_, at_s(5310)) == charge(300)) << ahead_s;
    const Money bill = charge(501);
    apply(5410, ReleaseDecided{kHere, {}});
    apply(5410, TerminateIssued{kHere});
    apply(5513, InstanceGone{kHere, at_s(5511 + ahead_s)});
    EXPECT_TRUE(ledger_.total() == bill) << ahead_s;
    EXPECT_TRUE(ledger_.idleness(OverheadKind::drain) ==
                Money::of(Price::from_usd_h(0.8), from_seconds(101)))
        << ahead_s;
  }
}

}  // namespace
}  // namespace muster

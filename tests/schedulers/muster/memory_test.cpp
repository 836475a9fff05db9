#include "schedulers/muster/memory.hpp"

#include <gtest/gtest.h>

#include "tests/schedulers/catalogs.hpp"
#include "tests/support/builders.hpp"

namespace muster::own {
namespace {

using std::chrono::seconds;
using test::at_s;

class MemoryTest : public ::testing::Test {
 protected:
  void happens(double at, EventBody body) {
    const Event event{at_s(at), std::move(body)};
    state_.apply(event);
    memory_.observe(event, {state_, catalog_, event.at});
  }
  void comes(std::uint32_t tasks) {
    happens(0, JobAccepted{test::JobBuilder(1).tasks(tasks).gang(false).build()});
    happens(0, LaunchRequested{kInstance, TypeId{0}, Market::on_demand, {}, {}});
  }

  static constexpr InstanceId kInstance{0};
  Catalog catalog_ = testing::table_3();
  ClusterState state_{catalog_};
  Memory memory_;
};

TEST_F(MemoryTest, ATaskHasWaitedForAsLongAsItHadNoInstanceOverItsLife) {
  comes(1);
  happens(10, TaskAssigned{TaskId{1}, kInstance, {}});
  EXPECT_EQ(memory_.waited(TaskId{1}, at_s(50)), seconds{10});
  happens(60, LaunchRefused{kInstance, {}});
  EXPECT_EQ(memory_.waited(TaskId{1}, at_s(65)), seconds{15});
}

TEST_F(MemoryTest, WhatLosesItsPlaceToAHoldWaitsFromItsReleaseOnThoughOthersHaveWaitedAllTheTime) {
  comes(2);
  happens(10, TaskAssigned{TaskId{1}, kInstance, {}});
  happens(20, JobHeld{JobId{1}});
  happens(30, JobReleased{JobId{1}});
  EXPECT_EQ(memory_.waited(TaskId{1}, at_s(40)), seconds{20});
  EXPECT_EQ(memory_.waited(TaskId{101}, at_s(40)), seconds{40});
}

TEST_F(MemoryTest, AnInstanceIsDirtyFromWhatHappensOnItToTheNextRound) {
  comes(1);
  happens(5, InstanceUp{kInstance});
  happens(10, InstanceReady{kInstance});
  EXPECT_TRUE(memory_.is_dirty(kInstance));
  happens(20, RoundDecided{});
  EXPECT_FALSE(memory_.is_dirty(kInstance));
  EXPECT_TRUE(memory_.is_quiet());
}

TEST_F(MemoryTest, AnUnfinishedRoundIsHeldAgainAndForgetsNothing) {
  comes(1);
  happens(5, InstanceUp{kInstance});
  happens(10, InstanceReady{kInstance});
  happens(20, RoundDecided{0, {"repartition", {{kAgain, kUnfinished}}}});
  EXPECT_TRUE(memory_.is_dirty(kInstance));
  EXPECT_FALSE(memory_.is_quiet());
  happens(30, RoundDecided{1, {"repartition", {{kAgain, kLater}}}});
  EXPECT_FALSE(memory_.is_dirty(kInstance));
  EXPECT_FALSE(memory_.is_quiet()) << "time alone may change what it would do";
}

TEST_F(MemoryTest, ARoundSaysUntilWhenTheFirstOfItsTasksMayWait) {
  comes(1);
  happens(10, RoundDecided{0, {"repartition", {{kLeftToWait, 36}}}});
  EXPECT_FALSE(memory_.has_waited_out(at_s(45)));
  happens(45, RoundDecided{1, {kAtOnce, {}}});
  EXPECT_TRUE(memory_.has_waited_out(at_s(46))) << "a round that looks at nothing changes nothing";
  happens(50, RoundDecided{2, {"repartition", {{kLeftToWait, 1e300}}}});
  EXPECT_FALSE(memory_.has_waited_out(at_s(1e6)));
  happens(60, RoundDecided{3, {"repartition", {}}});
  EXPECT_FALSE(memory_.has_waited_out(at_s(1e9)));
}

TEST_F(MemoryTest, AnInstanceIsLookedAtAgainWhenWhatIsOnItsWayHasCome) {
  comes(1);
  happens(10, InstanceUp{kInstance});
  happens(15, TaskAssigned{TaskId{1}, kInstance, {}});
  happens(20, InstanceReady{kInstance});
  happens(30, RoundDecided{});
  EXPECT_TRUE(memory_.is_dirty(kInstance)) << "nothing could be moved off it";
}

TEST_F(MemoryTest, AnotherPriceOfItsTypeMakesAnInstanceDirty) {
  comes(1);
  happens(10, RoundDecided{});
  const Offering offering{catalog_[TypeId{0}].name, Market::on_demand, "", Price::from_usd_h(1)};
  happens(20, OfferingChanged{{1, at_s(20), offering}});
  EXPECT_TRUE(memory_.is_dirty(kInstance));
}

TEST_F(MemoryTest, ARefusedGroupIsKnownUntilTheNextRound) {
  comes(1);
  const Refusal refusal{RefusalKind::not_now, RefusalCode::group_refused, {}, 0, 0};
  happens(10, PlanPartRefused{TaskId{1}, {}, refusal});
  EXPECT_TRUE(memory_.was_refused());
  happens(20, RoundDecided{});
  EXPECT_FALSE(memory_.was_refused());
}

}  // namespace
}  // namespace muster::own

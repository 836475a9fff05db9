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

}  // namespace
}  // namespace muster::own

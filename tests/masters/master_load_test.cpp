#include "masters/master_load.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using test::JobBuilder;

class MasterLoadTest : public test::MasterPartsTest {
 protected:
  double load(std::uint32_t queue_capacity) {
    settings_.queue_capacity = queue_capacity;
    return master_load(facts(), settings_, recorder_->fixed_fleet());
  }
  void submit_cores(std::uint64_t id, double cores) {
    happen(JobAccepted{JobBuilder(id).demand(Resources::of(0, cores, 1)).build()});
  }
};

TEST_F(MasterLoadTest, IsWhatIsWantedOfWhatTheFixedFleetHas) {
  begin({{it3(), Market::on_demand, 2}});  // 2 x 8 cores
  EXPECT_EQ(load(100), 0);
  ready(0, "it3");
  ready(1, "it3");
  EXPECT_EQ(load(100), 0);
  submit_cores(1, 8);
  EXPECT_DOUBLE_EQ(load(100), 0.5);
  submit_cores(2, 8);
  submit_cores(3, 8);
  EXPECT_DOUBLE_EQ(load(100), 1.5);
  EXPECT_DOUBLE_EQ(load(1), 3) << "tasks wait, and there is room for one";
}

TEST_F(MasterLoadTest, WhatMayStillBeRentedBelowACapCountsAsThere) {
  settings_.caps.max_instances = 2;
  begin();
  submit_cores(1, 8);
  EXPECT_GT(load(1000), 0);
  EXPECT_LE(load(1000), 0.5);
}

TEST_F(MasterLoadTest, WhatIsOwnedTakesNothingOfTheCaps) {
  settings_.rent_beyond_fleet = true;
  settings_.caps.max_instances = 1;
  settings_.caps.max_usd_h = 1.6;
  begin({{it3(), Market::on_demand, 1}});
  happen(LaunchRequested{
      InstanceId{0}, it3(), Market::on_demand, Price::from_usd_h(0.8), {CauseCode::fleet, 0}});
  submit_cores(1, 8);
  EXPECT_LE(load(1000), 0.5) << "there is the owned one, and another may be rented";
}

TEST_F(MasterLoadTest, WithoutCapsThereIsAlwaysMoreToBeHad) {
  begin();
  submit_cores(1, 8);
  EXPECT_LT(load(1000), 0.01);
}

TEST_F(MasterLoadTest, WhoWaitsLooksAtWhatTheHourCosts) {
  settings_.caps.max_usd_h = 1.6;
  begin();
  ready(0, "it3");  // 0.8 $/h
  EXPECT_EQ(load(1000), 0);
  submit_cores(1, 8);
  EXPECT_DOUBLE_EQ(load(1000), 0.5);
}

}  // namespace
}  // namespace muster

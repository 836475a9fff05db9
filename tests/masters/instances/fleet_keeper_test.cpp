#include "masters/instances/fleet_keeper.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

class FleetKeeperTest : public test::MasterPartsTest {
 protected:
  void make(Fleet fleet, std::size_t at_once = 500) {
    begin(fleet);
    cloud_.emplace(*recorder_, 0);
    guard_.emplace(*recorder_, *cloud_, settings_.caps);
    rules_.emplace(*recorder_, *cloud_, *guard_, settings_);
    fleet_.emplace(*recorder_, *cloud_, *rules_, FleetOrders{std::move(fleet), at_once});
  }
  Fleet two() const { return {{it4(), Market::on_demand, 2}}; }
  /// How many instances are ordered now.
  std::size_t ordered() {
    forget();
    fleet_->keep(now());
    return effects<LaunchInstance>().size();
  }
  void gone(std::uint64_t id) { happen(InstanceGone{InstanceId{id}, {}, CloudReason::not_said}); }

  std::optional<CloudOrders> cloud_;
  std::optional<SpendGuard> guard_;
  std::optional<PlanRules> rules_;
  std::optional<FleetKeeper> fleet_;
};

TEST_F(FleetKeeperTest, OrdersWhatIsLackingAndWhatIsLostLater) {
  make(two());
  EXPECT_EQ(ordered(), 2U);
  EXPECT_TRUE(fleet_->is_short()) << "the orders may be refused";
  EXPECT_EQ(ordered(), 0U);
  EXPECT_FALSE(fleet_->is_short());
  gone(0);
  EXPECT_EQ(ordered(), 1U);
}

TEST_F(FleetKeeperTest, OrdersALargeFleetPartByPart) {
  make({{it4(), Market::on_demand, 5}}, 2);
  EXPECT_TRUE(fleet_->keep(now())) << "more is lacking";
  EXPECT_EQ(effects<LaunchInstance>().size(), 2U);
  EXPECT_TRUE(fleet_->keep(now()));
  EXPECT_FALSE(fleet_->keep(now()));
  EXPECT_EQ(ordered(), 0U);
}

TEST_F(FleetKeeperTest, APartThatMayNotBeOrderedKeepsNothingElseBack) {
  settings_.caps.max_usd_h = 0.5;  // an it4 is within it, an it3 is not
  make({{it3(), Market::on_demand, 2}, {it4(), Market::on_demand, 1}}, 2);
  EXPECT_EQ(ordered(), 1U);
}

TEST_F(FleetKeeperTest, KeepsToTheCaps) {
  settings_.caps.max_instances = 1;
  make(two());
  EXPECT_EQ(ordered(), 1U);
  EXPECT_EQ(ordered(), 0U);
  EXPECT_TRUE(fleet_->is_short());
}

TEST_F(FleetKeeperTest, OrdersNothingWhileNothingMayBeRented) {
  make(two());
  cloud_->ask_numbers();
  EXPECT_EQ(ordered(), 0U);
  EXPECT_TRUE(fleet_->is_short());
  cloud_->know_instances({});
  EXPECT_EQ(ordered(), 2U);
}

TEST_F(FleetKeeperTest, WhatAUserDrainedIsNotReplaced) {
  make(two());
  ordered();
  fleet_->shrink(*state().find(InstanceId{1}));
  gone(1);
  EXPECT_EQ(ordered(), 0U);
  EXPECT_FALSE(fleet_->is_short());
}

TEST_F(FleetKeeperTest, ADrainedInstanceOfAnotherKindChangesNothing) {
  make(two());
  ready(7, "it3");
  fleet_->shrink(*state().find(InstanceId{7}));
  EXPECT_EQ(ordered(), 2U);
}

TEST_F(FleetKeeperTest, WhatIsRentedBeyondTheFleetIsNoneOfIt) {
  settings_.rent_beyond_fleet = true;
  make(two());
  ready(7);
  EXPECT_EQ(ordered(), 2U);
  fleet_->shrink(*state().find(InstanceId{7}));
  EXPECT_EQ(ordered(), 0U);
  gone(8);
  EXPECT_EQ(ordered(), 1U) << "the rented one takes no place of the fleet, and left none";
}

TEST_F(FleetKeeperTest, CapsOfWhatIsRentedBeyondTheFleetDoNotHoldItBack) {
  settings_.rent_beyond_fleet = true;
  settings_.caps.max_instances = 1;
  settings_.caps.max_usd_h = 0.1;
  make(two());
  EXPECT_EQ(ordered(), 2U);
}

TEST_F(FleetKeeperTest, AFleetMayLackSomethingUntilItWasLookedAt) {
  make(two());
  EXPECT_FALSE(fleet_->is_short());
  fleet_->look_again();
  EXPECT_TRUE(fleet_->is_short());
}

TEST_F(FleetKeeperTest, WhereEverythingIsRentedThereIsNothingToKeep) {
  make({});
  fleet_->look_again();
  EXPECT_FALSE(fleet_->is_short());
  EXPECT_EQ(ordered(), 0U);
}

}  // namespace
}  // namespace muster

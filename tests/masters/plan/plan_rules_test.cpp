#include "masters/plan/plan_rules.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::at_s;
using testing::ElementsAre;
using testing::IsEmpty;

class PlanRulesTest : public test::MasterPartsTest {
 protected:
  void make(Fleet fleet = {}) {
    begin(std::move(fleet));
    cloud_.emplace(*recorder_, 0);
    guard_.emplace(*recorder_, *cloud_, settings_.caps);
    rules_.emplace(*recorder_, *cloud_, *guard_, settings_);
  }
  /// A gang of two that the caps had no room for.
  void refused_gang(std::uint64_t id) {
    submit(id, 2);
    happen(PlanPartRefused{
        TaskId{id}, {}, {RefusalKind::not_now, RefusalCode::instance_cap, {}, 9, 8}});
  }

  std::optional<CloudOrders> cloud_;
  std::optional<SpendGuard> guard_;
  std::optional<PlanRules> rules_;
};

TEST_F(PlanRulesTest, NothingMayBeRentedWhileNumbersOrTheDayAreNotKnown) {
  settings_.caps.max_usd_day = 10;
  make();
  EXPECT_TRUE(rules_->may_rent());
  cloud_->ask_numbers();
  EXPECT_FALSE(rules_->may_rent());
  EXPECT_FALSE(rules_->limits(now()).backed_off.empty()) << "no offer counts";
  cloud_->know_instances({});
  guard_->know_cloud_clock(false);
  EXPECT_FALSE(rules_->may_rent());
  guard_->know_cloud_clock(true);
  EXPECT_TRUE(rules_->limits(now()).backed_off.empty());
}

TEST_F(PlanRulesTest, WhereMoreIsRentedThanTheFleetPlansMayRentAndKeepWhatIsOwned) {
  settings_.rent_beyond_fleet = true;
  make({{it4(), Market::on_demand, 1}});
  EXPECT_FALSE(rules_->limits(now()).fixed_fleet);
  EXPECT_TRUE(rules_->limits(now()).owns_fleet);
}

TEST_F(PlanRulesTest, LimitsAreTheCapsWithWhatHasBeenSpent) {
  settings_.caps.max_instances = 7;
  settings_.caps.max_usd_day = 10;
  settings_.min_stay = 20s;
  make();
  ready(0, "it3");
  clock_s_ = 1800;
  const PlanLimits limits = rules_->limits(now());
  EXPECT_EQ(limits.caps.max_instances, 7U);
  EXPECT_NEAR(limits.spent_today_usd, 0.4, 0.01);
  EXPECT_EQ(limits.caps.spend_margin, guard_->affordable_time());
  EXPECT_EQ(limits.stay.min_stay, 20s);
  EXPECT_FALSE(limits.fixed_fleet);
}

TEST_F(PlanRulesTest, OfAFixedFleetNothingIsRented) {
  make({{it4(), Market::on_demand, 1}});
  EXPECT_TRUE(rules_->limits(now()).fixed_fleet);
}

TEST_F(PlanRulesTest, WhatTheCloudRefusedIsNotAskedForWhileItRests) {
  settings_.launch_backoff = 600s;
  settings_.launch_backoff_longest = 600s;
  make();
  launch(0);
  happen(LaunchRefused{
      InstanceId{0}, {RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0}, {}});
  EXPECT_EQ(rules_->limits(now()).backed_off.size(), 1U);
  EXPECT_THAT(rules_->limits(at_s(700)).backed_off, IsEmpty());
}

TEST_F(PlanRulesTest, GangsRestAndHaveTheirTurnsByTheRound) {
  settings_.caps.max_instances = 4;
  settings_.gangs = {60s, 30s, 600s};
  settings_.launch_backoff = 1h;
  make();
  refused_gang(1);
  EXPECT_THAT(rules_->limits(now()).backed_off_gangs, IsEmpty()) << "the round is not yet";
  rules_->begin_round(0, now());
  EXPECT_THAT(rules_->limits(now()).backed_off_gangs, ElementsAre(JobId{1}));
  happen(GangTurn{JobId{1}, at_s(1000)});
  EXPECT_FALSE(rules_->limits(now()).turn);
  rules_->begin_round(1, now());
  EXPECT_EQ(rules_->limits(now()).turn, JobId{1});
}

}  // namespace
}  // namespace muster

#include "masters/instances/cloud_orders.hpp"

#include "model/live_ids.hpp"
#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CloudOrdersTest : public test::MasterPartsTest {
 protected:
  CloudOrdersTest() { make(); }
  void make(std::uint64_t first_instance = 0) {
    begin();
    cloud_.emplace(*recorder_, first_instance);
  }
  /// A launch for each task, all of them allowed.
  std::vector<InstanceId> launch_for(const std::vector<std::uint64_t>& tasks) {
    Plan plan;
    for (std::uint64_t id : tasks) {
      const auto index = static_cast<std::uint32_t>(plan.launches.size());
      plan.launches.push_back({it4(), Market::on_demand, {}});
      plan.places.push_back({TaskId{id}, LaunchIndex{index}, {}});
    }
    CheckedPlan checked;
    checked.launches.resize(plan.launches.size());
    return cloud_->launch(plan, checked, now());
  }
  void end(std::uint64_t id) {
    happen(ReleaseDecided{InstanceId{id}, {}});
    forget();
    cloud_->end(InstanceId{id}, now());
  }
  void gone(std::uint64_t id) { happen(InstanceGone{InstanceId{id}, {}, CloudReason::ended}); }

  std::optional<CloudOrders> cloud_;
};

TEST_F(CloudOrdersTest, ALaunchIsNumberedAndOrderedAtThePriceOfNow) {
  EXPECT_THAT(launch_for({1, 2}), ElementsAre(InstanceId{0}, InstanceId{1}));
  const Commit commit = recorder_->commit();
  const auto& first = std::get<LaunchRequested>(commit.events.front().body);
  EXPECT_EQ(first.price, catalog_[it4()].on_demand);
  EXPECT_EQ(commit.effects.size(), 2U);
}

TEST_F(CloudOrdersTest, WhatWasRefusedIsNotOrdered) {
  Plan plan;
  plan.launches.resize(2, {it4(), Market::on_demand, {}});
  CheckedPlan checked;
  checked.launches.resize(2);
  checked.launches[0] = Refusal{RefusalKind::not_now, RefusalCode::instance_cap, {}, 1, 0};
  cloud_->launch(plan, checked, now());
  EXPECT_THAT(numbers(effects<LaunchInstance>()), ElementsAre(0));
}

TEST_F(CloudOrdersTest, TheOldestJobOfTheHighestPriorityIsAskedForFirst) {
  submit(1);
  submit(2);
  Job urgent = test::JobBuilder(3).build();
  urgent.priority = 5;
  happen(JobAccepted{urgent});
  EXPECT_THAT(launch_for({2, 1, 3}), ElementsAre(InstanceId{2}, InstanceId{1}, InstanceId{0}));
}

TEST_F(CloudOrdersTest, AGangThatWasRefusedAsksAfterTheOthers) {
  settings_.caps.max_instances = 1;
  make();
  submit(1, 2);
  submit(2, 2);
  happen(
      PlanPartRefused{TaskId{1}, {}, {RefusalKind::not_now, RefusalCode::instance_cap, {}, 2, 1}});
  EXPECT_THAT(launch_for({1, 2}), ElementsAre(InstanceId{1}, InstanceId{0}));
}

TEST_F(CloudOrdersTest, AnOrderIsRepeatedUntilItIsAnswered) {
  launch_for({1, 2, 3});
  up(0);
  happen(LaunchRefused{InstanceId{1}, {}, {}});
  forget();
  cloud_->remind();
  EXPECT_THAT(numbers(effects<LaunchInstance>()), ElementsAre(2));
  up(2);
  EXPECT_THAT(cloud_->unanswered(), IsEmpty());
}

TEST_F(CloudOrdersTest, AnEndIsRepeatedUntilTheInstanceIsGoneWhateverIsHeardOfItsStart) {
  launch_for({1});
  end(0);
  EXPECT_THAT(numbers(effects<EndInstance>()), ElementsAre(0));
  up(0);
  cloud_->remind();
  EXPECT_THAT(numbers(effects<EndInstance>()), ElementsAre(0));
  gone(0);
  cloud_->remind();
  EXPECT_THAT(recorder_->commit().effects, IsEmpty());
}

TEST_F(CloudOrdersTest, TheCloudIsAskedAfterAllInstancesByTheirLastOrders) {
  launch_for({1, 2});
  up(0);
  up(1);
  end(1);
  forget();
  cloud_->ask_after_all();
  cloud_->ask_after(InstanceId{9});
  const Commit commit = recorder_->commit();
  ASSERT_EQ(commit.effects.size(), 2U) << "nobody knows the third";
  EXPECT_TRUE(std::holds_alternative<LaunchInstance>(commit.effects.front()));
  EXPECT_TRUE(std::holds_alternative<EndInstance>(commit.effects.back()));
}

TEST_F(CloudOrdersTest, AfterARestartItKnowsWhatIsUnanswered) {
  launch_for({1, 2, 3});
  up(0);
  up(1);
  end(1);
  MasterSnapshot snapshot = recorder_->memory().snapshot();
  make();
  recorder_->restore(std::move(snapshot));
  EXPECT_THAT(cloud_->unanswered(), ElementsAre(InstanceId{1}, InstanceId{2}));
}

TEST_F(CloudOrdersTest, NumbersGoOnAboveThoseThatTheCloudHasOfThisMaster) {
  EXPECT_TRUE(cloud_->knows_numbers());
  cloud_->ask_numbers();
  EXPECT_FALSE(cloud_->knows_numbers());
  const InstanceId of_another{kIdBlock * 3 + 50};
  EXPECT_TRUE(cloud_->know_instances({InstanceId{4}, of_another}));
  EXPECT_TRUE(cloud_->knows_numbers());
  EXPECT_FALSE(cloud_->know_instances({InstanceId{5}})) << "nobody had waited for that";
  EXPECT_THAT(launch_for({1}), ElementsAre(InstanceId{6}));
}

}  // namespace
}  // namespace muster

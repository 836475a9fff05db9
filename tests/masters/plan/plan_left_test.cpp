#include <gtest/gtest.h>

#include "masters/plan/plan_check.hpp"
#include "tests/masters/plan/plan_check_fixture.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

/// The cloud's word of what it has left of a type.
class LeftTest : public PlanCheckTest {
 protected:
  LeftTest() { tell(2); }
  void tell(std::uint32_t free) {
    OfferingChange change{
        ++changes_, at_s(0), {"it3", Market::on_demand, {}, Price::from_usd_h(1)}};
    change.offering.free = free;
    apply(OfferingChanged{change});
  }
  std::optional<std::uint32_t> left() const {
    return left_of(state_, *state_.offerings().find(it3(), Market::on_demand));
  }
  void launch(std::uint64_t id) {
    apply(LaunchRequested{InstanceId{id}, it3(), Market::on_demand, Price::from_usd_h(1), {}});
  }

  std::uint64_t changes_ = 0;
};

TEST_F(LeftTest, LaunchesBeyondWhatTheCloudHasLeftAreRefusedWithTheirTasks) {
  Plan plan;
  for (std::uint32_t i = 0; i < 3; ++i) {
    plan.launches.push_back({it3(), Market::on_demand, {}});
    plan.places.push_back({TaskId{i + 1}, LaunchIndex{i}, {}});
  }
  const CheckedPlan checked = check(plan);
  const Refusal none{RefusalKind::not_now, RefusalCode::no_free_machine, {}, 1, 0};
  EXPECT_TRUE(checked.launched(0));
  EXPECT_TRUE(checked.launched(1));
  EXPECT_EQ(checked.launches[2], none);
  EXPECT_EQ(checked.places[2], none);
}

TEST_F(LeftTest, AGangThatNeedsMoreIsRefusedWhole) {
  apply(JobAccepted{JobBuilder(100).tasks(3).gang(true).demand(Resources::of(0, 8, 8)).build()});
  Plan plan;
  for (std::uint32_t i = 0; i < 3; ++i) {
    plan.launches.push_back({it3(), Market::on_demand, {}});
    plan.places.push_back({TaskId{i == 0 ? 100 : 10'000 + i}, LaunchIndex{i}, {}});
  }
  plan.launches.push_back({it3(), Market::on_demand, {}});
  plan.places.push_back({TaskId{1}, LaunchIndex{3}, {}});
  const CheckedPlan checked = check(plan);
  const Refusal short_of{RefusalKind::not_now, RefusalCode::no_free_machine, {}, 3, 2};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(checked.places[i], short_of);
  EXPECT_TRUE(checked.launched(3)) << "it takes nothing from others";
}

TEST_F(LeftTest, WhatWasAskedForSinceTheWordIsNotLeft) {
  launch(10);
  EXPECT_EQ(left(), 1u);
  launch(11);
  EXPECT_EQ(left(), 0u);
  apply(LaunchRefused{InstanceId{11}, {}});
  EXPECT_EQ(left(), 1u) << "it never was";
  tell(0);
  apply(InstanceGone{InstanceId{0}});
  EXPECT_EQ(left(), 0u) << "until the cloud says that it is free";
  tell(1);
  EXPECT_EQ(left(), 1u);
}

TEST_F(LeftTest, MachinesThatAreCountedTakeNothingOfTheCapOnInstancesThatAreRentedBesideThem) {
  const TypeId other{it3().value == 0 ? 1U : 0U};
  launch(10);
  Plan plan;
  plan.launches = {{other, Market::on_demand, {}},
                   {it3(), Market::on_demand, {}},
                   {other, Market::on_demand, {}}};
  for (std::uint32_t i = 0; i < 3; ++i) plan.places.push_back({TaskId{i + 1}, LaunchIndex{i}, {}});
  const CheckedPlan checked = check(plan, {.max_instances = 1});
  EXPECT_TRUE(checked.launched(0));
  EXPECT_TRUE(checked.launched(1));
  ASSERT_TRUE(checked.launches[2]);
  EXPECT_EQ(checked.launches[2]->code, RefusalCode::instance_cap);
}

}  // namespace
}  // namespace muster

#include <gtest/gtest.h>

#include "masters/plan/plan_check.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

TEST(DayMoney, BesideOthersTheDayHasToPayForLongerThanAlone) {
  const Catalog catalog = test::table3_catalog();
  const TypeId it3 = test::type_named(catalog, "it3");
  ClusterState state(catalog);
  for (const std::uint64_t id : {1, 2}) {
    state.apply({at_s(0), JobAccepted{JobBuilder(id).demand(Resources::of(0, 1, 1)).build()}});
  }
  Plan plan;
  plan.launches = {{it3, Market::on_demand, {}}, {it3, Market::on_demand, {}}};
  plan.places = {{TaskId{1}, LaunchIndex{0}, {}}, {TaskId{2}, LaunchIndex{1}, {}}};
  PlanLimits limits;
  limits.caps.max_usd_day = 2;
  limits.caps.spend_margin = std::chrono::hours{3};  // at 0.8 $/h more than a day's money
  limits.alone_margin = std::chrono::hours{1};
  const CheckedPlan checked = check_plan(plan, state, limits);
  EXPECT_FALSE(checked.launches[0].has_value());
  ASSERT_TRUE(checked.launches[1].has_value());
  EXPECT_EQ(checked.launches[1]->code, RefusalCode::day_cap);
  // Not more than a day's money: alone it would be paid for.
  EXPECT_LE(checked.launches[1]->asked, 2);
}

}  // namespace
}  // namespace muster

#include "tools/pareto/frontier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/boa/class_work.hpp"
#include "tests/tools/pareto/small_load.hpp"
#include "tools/pareto/budget_range.hpp"

namespace muster::pareto {
namespace {

using namespace test;
using boa::PlanKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Frontiers, SayWhatEachBudgetGives) {
  const Frontier frontier = predict_frontier(small_load(), {6, 100}, PlanKind::path);
  ASSERT_EQ(frontier.points.size(), 2U);
  const Prediction& narrow = *frontier.points[0].predicted;
  EXPECT_NEAR(narrow.gpus, 6, 1e-9);
  EXPECT_NEAR(narrow.gpu_h, 12, 1e-9) << "over two hours";
  EXPECT_NEAR(narrow.usd_h, 18, 1e-9);
  EXPECT_NEAR(narrow.usd, 36, 1e-9);
  EXPECT_NEAR(narrow.mean_jct_s, 3 * 3600, 1e-6);
  const Prediction& wide = *frontier.points[1].predicted;
  EXPECT_NEAR(wide.mean_jct_s, (1 / 2.4 + 2 / 2.7) * 3600, 1e-6);
  EXPECT_NEAR(wide.gpus, 2 * (3 / 2.4 + 6 / 2.7), 1e-9);
  EXPECT_NEAR(wide.bound_jct_s, wide.mean_jct_s, 1e-6);
}

TEST(Frontiers, AreWhatThePolicyPlansForTheSameLoad) {
  const ElasticLoad load = small_load();
  for (const PlanKind kind : {PlanKind::path, PlanKind::glue}) {
    const Frontier frontier = predict_frontier(load, {6.3}, kind);
    const auto plan = boa::plan_by(kind, load.work(), 6.3);
    EXPECT_DOUBLE_EQ(frontier.points[0].predicted->mean_jct_s, plan->mean_jct_h * 3600);
    EXPECT_DOUBLE_EQ(frontier.points[0].predicted->gpus, plan->cost_gpus);
  }
}

TEST(Frontiers, HaveNothingForBudgetsThatCannotBeKept) {
  for (const PlanKind kind : {PlanKind::path, PlanKind::glue}) {
    const Frontier frontier = predict_frontier(small_load(), {5.9, 6.1}, kind);
    EXPECT_NEAR(frontier.least_gpus, 6, 0.001);
    EXPECT_FALSE(frontier.points[0].predicted);
    EXPECT_TRUE(frontier.points[1].predicted);
  }
}

TEST(Frontiers, AreReplayedWhereBudgetsCanBeKeptAsEvenlyAsMayBe) {
  const Frontier frontier = predict_frontier(small_load(), {1, 6, 7, 8, 9, 10}, PlanKind::path);
  EXPECT_THAT(spread_over(frontier, 3), ElementsAre(1, 3, 5));
  EXPECT_THAT(spread_over(frontier, 1), ElementsAre(3));
  EXPECT_THAT(spread_over(frontier, 9), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(spread_over(frontier, 0), ElementsAre());
}

TEST(CheapestBudgets, MeetTheTargetAndNoneBelowThemDoes) {
  const ElasticLoad load = small_load();
  for (const double target_s : {10799.0, 9000.0, 6000.0, 4500.0, 4170.0}) {
    const auto found = cheapest_budget(load, target_s, PlanKind::path);
    ASSERT_TRUE(found) << found.error().message;
    const double budget = found->budget_gpus;
    EXPECT_LE(found->predicted->mean_jct_s, target_s);
    const Frontier below = predict_frontier(load, {budget - 0.002}, PlanKind::path);
    EXPECT_GT(below.points[0].predicted ? below.points[0].predicted->mean_jct_s : 1e9, target_s)
        << budget;
  }
}

TEST(CheapestBudgets, AreTheLeastThatCanBeKeptForATargetThatAnyMeets) {
  const auto found = cheapest_budget(small_load(), 1e6, PlanKind::path);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->budget_gpus, 6, 0.001);
}

TEST(CheapestBudgets, AreNoneForATargetBelowWhatAnyMeets) {
  const auto none = cheapest_budget(small_load(), 4000, PlanKind::path);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, NoBudget::below_all);
  EXPECT_THAT(none.error().message, HasSubstr("4166.7 s")) << "1 h / 2.4 + 2 h / 2.7";
}

TEST(TypedFrontiers, SayWhatTheSameDollarsGiveOnAllTypes) {
  ElasticLoad load = small_load();
  load.types = {{"slow", 3, 1}, {"fast", 12, 3}};
  Frontier frontier = predict_frontier(load, {5, 6, 8}, PlanKind::path);
  predict_types(load, {}, frontier);
  EXPECT_FALSE(frontier.points[0].typed) << "no type keeps it";
  const TypedPrediction& least = *frontier.points[1].typed;
  EXPECT_NEAR(least.usd_h, 18, 1e-9);
  EXPECT_NEAR(least.one_type_jct_s, 3 * 3600, 1e-6);
  EXPECT_NEAR(least.jct_s, 3 * 3600, 1e-6) << "the fast type costs more for the same work";
  const TypedPrediction& ample = *frontier.points[2].typed;
  EXPECT_NEAR(ample.one_type_jct_s, (1 / 2.4 + 2 / 2.7) * 3600, 1e-6);
  EXPECT_LT(ample.jct_s, ample.one_type_jct_s);
  EXPECT_GT(ample.gpus[1], 0);
  EXPECT_NEAR(3 * ample.gpus[0] + 12 * ample.gpus[1], 24, 1e-6);
}

TEST(BudgetRanges, HaveBothEndsWhereTheStepsMeetThem) {
  EXPECT_THAT(parse_budgets("40:60:10").value(), ElementsAre(40, 50, 60));
  EXPECT_THAT(parse_budgets("40:59:10").value(), ElementsAre(40, 50));
  EXPECT_EQ(parse_budgets("0.1:1:0.1")->size(), 10U);
  EXPECT_THAT(parse_budgets("64").value(), ElementsAre(64));
}

TEST(BudgetRanges, AreRefusedWhenTheyAreNone) {
  for (const char* wrong : {"", "40:60", "60:40:10", "40:60:0", "40:60:-1", "0:60:10", "1:2:3:4",
                            "40:60:x", "1:2000:1", "1e9", ":::"}) {
    EXPECT_FALSE(parse_budgets(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace muster::pareto

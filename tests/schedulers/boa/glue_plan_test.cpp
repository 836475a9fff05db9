#include "schedulers/boa/glue_plan.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/schedulers/boa/reference.hpp"

namespace muster::boa {
namespace {

/// Its second half is worth another width than its first, if starts are free.
ClassWork changing(double rescale_h) {
  const EpochWork flat{1, {1, 1.2, 1.3}};
  const EpochWork steep{1, {1, 1.95, 2.8}};
  return {"changing", 1, rescale_h, {flat, flat, steep, steep}};
}

TEST(GluedOptions, OfSeveralEpochsAreTheirHarmonicMean) {
  const ClassWork work = changing(0);
  const auto options = glued_options(RunFigures(work), 1, 3);
  ASSERT_EQ(options.size(), 3U);
  EXPECT_DOUBLE_EQ(options[1].time, 1 / 1.2 + 1 / 1.95);
  EXPECT_DOUBLE_EQ(options[1].cost, 2 * options[1].time);
}

TEST(GluedPlans, HoldGluedEpochsAtOneWidth) {
  const std::vector<ClassWork> classes{changing(0)};
  const GluePlanner planner(classes);
  const auto all = planner.plan_as({4}, 5);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->widths[0], std::vector<std::uint32_t>(4, all->widths[0][0]));
  const auto halves = planner.plan_as({2}, 4.3);
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->widths[0], (std::vector<std::uint32_t>{1, 1, 3, 3}));
  EXPECT_LE(halves->cost_gpus, 4.3);
}

TEST(GluedPlans, LeaveRoomInTheBudgetForStarts) {
  // Three workers in the second half would take 4.14 GPU-hours and 0.4 for the two starts.
  const std::vector<ClassWork> classes{changing(0.1)};
  const auto plan = GluePlanner(classes).plan_as({2}, 4.4);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->widths[0], (std::vector<std::uint32_t>{1, 1, 2, 2}));
  EXPECT_NEAR(plan->cost_gpus, 2.1 + 2 * (2 / 1.95 + 0.1), 1e-12);
  EXPECT_NEAR(plan->mean_jct_h, 2.1 + 2 / 1.95 + 0.1, 1e-12);
}

TEST(GluedPlans, EndWhereStartsNeverFit) {
  // The four hours of work fit, and their start does not.
  const std::vector<ClassWork> classes{changing(0.1)};
  const auto plan = GluePlanner(classes).plan(4.05);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, WidthError::over_budget);
  EXPECT_NE(plan.error().message.find("4.05"), std::string::npos) << plan.error().message;
}

TEST(GluedPlans, AreTheSameForTheSameSeed) {
  const std::vector<ClassWork> classes{changing(0.01), changing(0.02)};
  const GluePlanner planner(classes);
  const auto one = planner.plan(9, {.configurations = 3, .seed = 7});
  const auto other = planner.plan(9, {.configurations = 3, .seed = 7});
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->widths, other->widths);
}

TEST(GluedPlans, GetNoWorseWithMoreConfigurations) {
  const std::vector<ClassWork> classes{changing(0.01), changing(0.02)};
  const GluePlanner planner(classes);
  const auto few = planner.plan(9, {.configurations = 1});
  const auto many = planner.plan(9, {.configurations = 50});
  ASSERT_TRUE(few && many);
  EXPECT_LE(many->mean_jct_h, few->mean_jct_h);
}

using GlueReference = BoaReference;

/// "cifar10=32;bert=1" in the order of the classes.
std::vector<std::uint32_t> glue_of(const std::string& text, const std::vector<ClassWork>& classes) {
  std::map<std::string, std::uint32_t> by_name;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    const std::size_t equals = part.find('=');
    by_name[part.substr(0, equals)] =
        static_cast<std::uint32_t>(std::stoul(part.substr(equals + 1)));
  }
  std::vector<std::uint32_t> glue;
  for (const ClassWork& work : classes) glue.push_back(by_name.at(work.name));
  return glue;
}

/// What no widths within the budget do better than.
double bound_h(const std::vector<ClassWork>& classes, double budget) {
  return plan_widths(classes, budget)->lower_bound_jct_h;
}

TEST_F(GlueReference, KeepsTheBudgetAndComesNearTheBestGluing) {
  int compared = 0;
  for (const Row& row : test::rows_of(folder_ / "boa_reference.csv")) {
    if (row.at("method") != "rescale_best_power_of_two_glue") continue;
    const std::string what =
        row.at("workload") + " " + row.at("calibration") + " " + row.at("budget_gpus");
    const double budget = std::stod(row.at("budget_gpus"));
    const auto classes = classes_of(row.at("workload"), row.at("calibration"));
    const GluePlanner planner(classes);
    const double best_s = std::stod(row.at("mean_jct_s"));
    const auto same = planner.plan_as(glue_of(row.at("glue"), classes), budget);
    ASSERT_TRUE(same) << what << ": " << same.error().message;
    EXPECT_LE(same->mean_jct_h * 3600, 1.03 * best_s) << what;
    const auto drawn = planner.plan(budget);
    ASSERT_TRUE(drawn) << what << ": " << drawn.error().message;
    EXPECT_LE(drawn->mean_jct_h * 3600, 1.06 * best_s) << what;
    EXPECT_LE(drawn->cost_gpus, budget) << what;
    EXPECT_GE(drawn->mean_jct_h, bound_h(classes, budget) * (1 - 1e-9)) << what;
    EXPECT_GE(drawn->mean_jct_h, drawn->lower_bound_jct_h) << what;
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST_F(GlueReference, StaysAboveTheBoundWhereOneClassIsMostOfTheLoad) {
  // No published search covers this load of 120.3 GPUs.
  const auto classes = classes_of("workload1", "sia23");
  const GluePlanner planner(classes);
  for (const double budget : {130.0, 150.0, 190.0, 240.0}) {
    const auto glued = planner.plan(budget);
    ASSERT_TRUE(glued) << glued.error().message;
    EXPECT_LE(glued->cost_gpus, budget);
    EXPECT_GE(glued->mean_jct_h, bound_h(classes, budget) * (1 - 1e-9));
    const auto path = plan_widths(classes, budget);
    ASSERT_TRUE(path);
    EXPECT_LE(path->cost_gpus, budget);
    EXPECT_LE(path->mean_jct_h, glued->mean_jct_h * 1.01);
  }
}

}  // namespace
}  // namespace muster::boa

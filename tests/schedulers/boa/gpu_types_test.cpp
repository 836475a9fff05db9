#include "schedulers/boa/gpu_types.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "schedulers/packing/bound/covering_lp.hpp"
#include "schedulers/registry.hpp"
#include "tests/schedulers/boa/reference.hpp"

namespace muster::boa {
namespace {

/// An hour and two hours of one GPU.
std::vector<ClassWork> one_class(double jobs_per_h = 1) {
  return {{"net", jobs_per_h, 0, {{1, {1, 1.8, 2.4}}, {2, {1, 1.9, 2.7}}}}};
}

TEST(TypedOptions, AreTheHullOfAllTypes) {
  // The second type is 3 times as fast for 4 times the money: it goes on where the first ends.
  const std::vector<TypeSpeeds> types{{{1, 1.6}, 1}, {{3, 5.4}, 4}};
  const auto options = typed_options(types);
  ASSERT_EQ(options.size(), 3U);
  EXPECT_EQ(options[0].type, 0U);
  EXPECT_DOUBLE_EQ(options[0].cost, 1);
  // Two of the first take 0.625 h for $1.25; one of the second takes 0.333 h for $1.333.
  EXPECT_EQ(options[1].type, 1U);
  EXPECT_EQ(options[1].width, 1U);
  EXPECT_DOUBLE_EQ(options[1].cost, 4.0 / 3);
  EXPECT_EQ(options[2].width, 2U);
  EXPECT_DOUBLE_EQ(options[2].time, 1 / 5.4);
}

TEST(ProblemSeven, IsProblemOneWhereThereIsOneType) {
  const TypePlanner planner(one_class(), {{"t4", 0.5, 1}});
  const auto plan = planner.plan(0.5 * 3.15);
  ASSERT_TRUE(plan);
  EXPECT_NEAR(plan->least_usd_h, 1.5, 1e-12);
  EXPECT_EQ(plan->chosen[0][0].width, 1U);
  EXPECT_EQ(plan->chosen[0][1].width, 2U);
  EXPECT_NEAR(plan->gpus[0], 3.15, 1e-12);
  ASSERT_TRUE(plan->split);
  EXPECT_EQ(plan->split->epoch, 0U);
}

TEST(ProblemSeven, RunsAllOnATypeThatIsFasterForLess) {
  const TypePlanner planner(one_class(), {{"t4", 1, 1}, {"v100", 2, 3}});
  const auto plan = planner.plan(2);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->gpus[0], 0);
  EXPECT_NEAR(plan->mean_jct_h, 1, 1e-12);
  EXPECT_NEAR(plan->gpus[1], 1, 1e-12);
}

TEST(ProblemSeven, SplitsOnePairBetweenTypes) {
  const ClassWork narrow{"net", 1, 0, {{1, {1}}}};
  const TypePlanner planner({narrow}, {{"t4", 1, 1}, {"v100", 8, 4}});
  const auto plan = planner.plan(1.25);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->split);
  EXPECT_EQ(plan->split->option.type, 1U);
  EXPECT_NEAR(plan->split->share, 0.25, 1e-12);
  EXPECT_NEAR(plan->mean_jct_h, 0.75 + 0.25 / 4, 1e-12);
  EXPECT_NEAR(plan->gpus[0], 0.75, 1e-12);
  EXPECT_NEAR(plan->gpus[1], 0.25 / 4, 1e-12);
}

TEST(ProblemSeven, RefusesABudgetThatNothingKeeps) {
  const auto plan = TypePlanner(one_class(2), {{"t4", 1, 1}, {"v100", 8, 4}}).plan(5.9);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, WidthError::over_budget);
}

/// Problem (7) as a linear program over all widths of all types of each class and epoch.
double least_hours(const std::vector<ClassWork>& classes, const std::vector<GpuType>& types,
                   double budget_usd_h) {
  std::vector<double> needs{-budget_usd_h};
  for (const ClassWork& work : classes) needs.insert(needs.end(), work.epochs.size(), 1);
  bound::CoveringLp lp(needs);
  std::uint32_t row = 0;
  for (const ClassWork& work : classes) {
    for (const EpochWork& epoch : work.epochs) {
      ++row;
      for (const GpuType& type : types) {
        for (std::size_t w = 0; w < epoch.speedup.size(); ++w) {
          const double hours = work.jobs_per_h * epoch.gpu_h / (epoch.speedup[w] * type.speed);
          const double usd = hours * static_cast<double>(w + 1) * type.usd_h;
          const std::vector<bound::LpEntry> entries{{0, -usd}, {row, 1}};
          lp.add_column(work.weight * hours, entries);
        }
      }
    }
  }
  const bound::LpSolution solution = lp.solve();
  EXPECT_TRUE(solution.optimal);
  return solution.cost;
}

double weighted_hours(const std::vector<ClassWork>& classes, const TypedPlan& plan) {
  return plan.weighted_jct_h * weighted_rate(classes);
}

RC_GTEST_PROP(ProblemSeven, IsNoWorseAndNoBetterThanALinearProgram, ()) {
  const auto number = [](int low, int high) {
    return static_cast<double>(*rc::gen::inRange(low, high)) / 100;
  };
  std::vector<ClassWork> classes;
  for (int c = 0; c < *rc::gen::inRange(1, 4); ++c) {
    ClassWork work{"c", number(10, 500), 0, {}, number(50, 300)};
    for (int e = 0; e < *rc::gen::inRange(1, 4); ++e) {
      EpochWork epoch{number(10, 500), {1}};
      for (int w = 0; w < *rc::gen::inRange(0, 6); ++w) epoch.speedup.push_back(number(50, 900));
      work.epochs.push_back(std::move(epoch));
    }
    classes.push_back(std::move(work));
  }
  std::vector<GpuType> types;
  for (int t = 0; t < *rc::gen::inRange(1, 4); ++t) {
    types.push_back({"t", number(20, 400), number(50, 500)});
  }
  const TypePlanner planner(classes, types);
  const double least = planner.plan(1e12)->least_usd_h;
  const double budget = least * number(101, 400);
  const auto plan = planner.plan(budget);
  RC_ASSERT(plan.has_value());
  RC_ASSERT(plan->usd_h <= budget * (1 + 1e-9));
  const double expected = least_hours(classes, types, budget);
  RC_ASSERT(std::abs(weighted_hours(classes, *plan.operator->()) / expected - 1) < 1e-6);
}

/// T4 and a synthetic V100: three times as fast, at the prices of g4dn.12xlarge and p3.2xlarge.
const std::vector<GpuType>& two_types() {
  static const std::vector<GpuType> types{{"t4", 3.912 / 4, 1}, {"v100", 3.06, 3}};
  return types;
}

TEST_F(BoaReference, ProblemSevenIsThatOfALinearProgramOnThePublishedTraces) {
  int compared = 0;
  for (const Row& row : test::rows_of(folder_ / "boa_reference.csv")) {
    if (row.at("method") != "problem1" || row.at("granularity") != "epoch") continue;
    const auto classes = classes_of(row.at("workload"), row.at("calibration"));
    const double budget = std::stod(row.at("budget_gpus")) * two_types()[0].usd_h;
    const auto plan = TypePlanner(classes, two_types()).plan(budget);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_LE(plan->mean_jct_h * 3600, std::stod(row.at("mean_jct_s")) * (1 + 1e-6))
        << "another type to choose from makes nothing worse";
    const double expected = least_hours(classes, two_types(), budget);
    EXPECT_NEAR(weighted_hours(classes, *plan.operator->()) / expected, 1, 1e-6);
    const auto alone = TypePlanner(classes, {two_types()[0]}).plan(budget);
    EXPECT_NEAR(alone->mean_jct_h * 3600 / std::stod(row.at("mean_jct_s")), 1, 1e-6);
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

/// What is wrong with the policy under so many masters; empty: nothing.
std::string fault(const std::string& policy, std::uint32_t masters) {
  InstanceType node;
  node.name = "node";
  node.capacity = Resources::of(4, 48, 192);
  const Catalog catalog({node});
  const auto made = make_policy(parse_policy(policy).value(), catalog, masters);
  return made ? std::string() : made.error().message;
}

TEST(BoaBudget, IsOfGpusOrOfDollars) {
  for (const std::uint32_t masters : {1, 4}) {
    EXPECT_NE(fault("boa,budget_usd_h=5,budget=64", masters).find("has to be one of them"),
              std::string::npos);
    EXPECT_EQ(fault("boa,budget_usd_h=5", masters), "");
    EXPECT_EQ(fault("boa,budget=64", masters), "");
    EXPECT_EQ(fault("boa,budget=64,budget_usd_h=0", masters), "");
    EXPECT_EQ(fault("boa", masters), "");
  }
}

}  // namespace
}  // namespace muster::boa

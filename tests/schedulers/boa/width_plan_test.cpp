#include "schedulers/boa/width_plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace muster::boa {
namespace {

/// Hours and GPUs of widths, added up epoch by epoch as Lemma 4.8 has it.
struct Sums {
  double jct_h = 0;
  double gpus = 0;
};
Sums sums_of(const std::vector<ClassWork>& classes,
             const std::vector<std::vector<std::uint32_t>>& widths) {
  Sums sums;
  double jobs_per_h = 0;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const ClassWork& work = classes[c];
    jobs_per_h += work.jobs_per_h;
    std::uint32_t before = 0;
    for (std::size_t epoch = 0; epoch < work.epochs.size(); ++epoch) {
      const std::uint32_t width = widths[c][epoch];
      double hours = work.epochs[epoch].gpu_h / work.epochs[epoch].speedup[width - 1];
      if (width != before) hours += work.rescale_h;
      before = width;
      sums.jct_h += work.jobs_per_h * hours;
      sums.gpus += work.jobs_per_h * hours * width;
    }
  }
  sums.jct_h /= jobs_per_h;
  return sums;
}

/// Of all widths that a single class can have, those within the budget that take the least time.
double least_jct_h(const ClassWork& work, double budget_gpus) {
  const auto most = static_cast<std::uint32_t>(work.epochs.front().speedup.size());
  std::vector<std::uint32_t> widths(work.epochs.size(), 1);
  double least = std::numeric_limits<double>::infinity();
  while (true) {
    const Sums sums = sums_of({work}, {widths});
    if (sums.gpus <= budget_gpus) least = std::min(least, sums.jct_h);
    std::size_t at = 0;
    while (at < widths.size() && widths[at] == most) widths[at++] = 1;
    if (at == widths.size()) return least;
    ++widths[at];
  }
}

ClassWork simple(double jobs_per_h = 1) {
  return {"simple", jobs_per_h, 0, {{1, {1, 1.8, 2.4}}, {2, {1, 1.9, 2.7}}}};
}

TEST(WidthPlans, GiveEachEpochItsBestWidthWhereThereIsMoreThanEnough) {
  const auto plan = plan_widths({simple()}, 100);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->widths, (std::vector<std::vector<std::uint32_t>>{{3, 3}}));
  EXPECT_NEAR(plan->mean_jct_h, 1 / 2.4 + 2 / 2.7, 1e-12);
  EXPECT_NEAR(plan->lower_bound_jct_h, plan->mean_jct_h, 1e-12);
  EXPECT_NEAR(plan->cost_gpus, 3 / 2.4 + 6 / 2.7, 1e-12);
}

TEST(WidthPlans, SpendWhereAGpuHourSavesMost) {
  // One worker takes 3 GPU-hours; two in the second epoch 0.11 more for 0.95 hours less, two in the
  // first 0.11 more for 0.44 less.
  const auto plan = plan_widths({simple()}, 3.15);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->widths, (std::vector<std::vector<std::uint32_t>>{{1, 2}}));
  EXPECT_NEAR(plan->least_gpus, 3, 1e-12);
}

TEST(WidthPlans, KeepOneWidthWhereAChangeCostsMoreThanItBrings) {
  ClassWork work = simple();
  work.rescale_h = 1;
  const auto plan = plan_widths({work}, 100);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->widths[0][0], plan->widths[0][1]);
  const Sums sums = sums_of({work}, plan->widths);
  EXPECT_NEAR(plan->mean_jct_h, sums.jct_h, 1e-12);
  EXPECT_NEAR(plan->cost_gpus, sums.gpus, 1e-12);
}

TEST(WidthPlans, FindTheCheapestWidthWhereSeveralWorkersAreMoreThanAsManyTimesAsFast) {
  const ClassWork superlinear{"bert", 2, 0, {{3, {1, 2.1, 3}}}};
  const WidthPlan cheapest = cheapest_widths({superlinear});
  EXPECT_EQ(cheapest.widths[0][0], 2U);
  EXPECT_NEAR(cheapest.least_gpus, 2 * 3 * 2 / 2.1, 1e-12);
}

TEST(WidthPlans, SpendFirstOnTheClassWithMoreWeight) {
  // Both second epochs are worth another 0.11 GPU-hours; there are enough for one of them.
  ClassWork heavy = simple();
  heavy.weight = 2;
  const auto plan = plan_widths({simple(), heavy}, 6.15);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->widths, (std::vector<std::vector<std::uint32_t>>{{1, 1}, {1, 2}}));
  const double heavy_h = 1 + 2 / 1.9;
  EXPECT_NEAR(plan->mean_jct_h, (3 + heavy_h) / 2, 1e-12);
  EXPECT_NEAR(plan->weighted_jct_h, (3 + 2 * heavy_h) / 3, 1e-12);
  EXPECT_LE(plan->lower_bound_jct_h, plan->weighted_jct_h);
}

TEST(SharedWidthPlans, SpendTheWholeBudgetAndReachTheBound) {
  // 3 GPU-hours take three hours, two workers in the second epoch 0.95 hours less for 0.11 more:
  // with half of that half of the jobs are so wide.
  const double step = 4 / 1.9 - 2;
  const auto plan = share_widths({simple()}, 3 + step / 2);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->widths[0], (std::vector<std::uint32_t>{1, 1}));
  ASSERT_TRUE(plan->shared);
  EXPECT_EQ(plan->shared->work_class, 0U);
  EXPECT_EQ(plan->shared->widths, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_NEAR(plan->shared->share, 0.5, 1e-9);
  EXPECT_NEAR(plan->cost_gpus, 3 + step / 2, 1e-12);
  EXPECT_NEAR(plan->mean_jct_h, 3 - (2 - 2 / 1.9) / 2, 1e-12);
  EXPECT_NEAR(plan->lower_bound_jct_h, plan->mean_jct_h, 1e-12);
}

TEST(SharedWidthPlans, ShareNothingWhereThereIsMoreThanEnough) {
  const auto plan = share_widths({simple()}, 100);
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->shared);
  EXPECT_EQ(plan->widths[0], (std::vector<std::uint32_t>{3, 3}));
}

TEST(SharedWidthPlans, RefuseABudgetThatNoWidthsKeep) {
  EXPECT_FALSE(share_widths({simple(2)}, 5.9));
}

TEST(WidthPlans, RefuseABudgetThatNoWidthsKeepAndSayWhatTheyNeed) {
  const auto plan = plan_widths({simple(2)}, 5.9);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, WidthError::over_budget);
  EXPECT_NE(plan.error().message.find("6.0"), std::string::npos) << plan.error().message;
}

/// A class whose speedups rise and fall as measured ones do.
ClassWork drawn_class(const std::string& name, std::size_t epochs, std::size_t widths) {
  const auto number = [](int low, int high) {
    return static_cast<double>(*rc::gen::inRange(low, high)) / 100;
  };
  ClassWork work{name, number(10, 1000), number(0, 20), {}};
  for (std::size_t i = 0; i < epochs; ++i) {
    EpochWork epoch{number(5, 500), {1}};
    while (epoch.speedup.size() < widths) {
      epoch.speedup.push_back(std::max(0.1, epoch.speedup.back() + number(-20, 130)));
    }
    work.epochs.push_back(std::move(epoch));
  }
  return work;
}

RC_GTEST_PROP(WidthPlans, KeepTheBudgetAndSayTruly, ()) {
  std::vector<ClassWork> classes;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    classes.push_back(drawn_class(std::to_string(i), 3, 6));
  }
  const double least = cheapest_widths(classes).least_gpus;
  const double budget = least * static_cast<double>(*rc::gen::inRange(101, 400)) / 100;
  const auto plan = plan_widths(classes, budget);
  RC_ASSERT(plan);
  const Sums sums = sums_of(classes, plan->widths);
  RC_ASSERT(std::abs(sums.gpus - plan->cost_gpus) <= 1e-9 * sums.gpus);
  RC_ASSERT(std::abs(sums.jct_h - plan->mean_jct_h) <= 1e-9 * sums.jct_h);
  RC_ASSERT(plan->cost_gpus <= budget);
  RC_ASSERT(plan->lower_bound_jct_h <= plan->mean_jct_h * (1 + 1e-9));
  const auto more = plan_widths(classes, budget * 1.3);
  RC_ASSERT(more->mean_jct_h <= plan->mean_jct_h * (1 + 1e-9));
}

RC_GTEST_PROP(WidthPlans, AreBoundedByWhatNoWidthsBeat, ()) {
  const ClassWork work = drawn_class("one", 3, 4);
  const double least = cheapest_widths({work}).least_gpus;
  const double budget = least * static_cast<double>(*rc::gen::inRange(101, 300)) / 100;
  const auto plan = plan_widths({work}, budget);
  RC_ASSERT(plan);
  const double best = least_jct_h(work, budget);
  RC_ASSERT(plan->lower_bound_jct_h <= best * (1 + 1e-9));
  RC_ASSERT(best <= plan->mean_jct_h * (1 + 1e-9));
}

}  // namespace
}  // namespace muster::boa

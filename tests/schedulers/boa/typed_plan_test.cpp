#include "schedulers/boa/typed_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/rng.hpp"
#include "tests/support/golden.hpp"

namespace muster::boa {
namespace {

using muster::test::IsGolden;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Sums {
  double hours = 0;
  double usd_h = 0;
};

/// Added up epoch by epoch.
Sums sums_of(const TypedWork& work, const std::vector<std::vector<TypedWidth>>& widths) {
  Sums sums;
  for (std::size_t c = 0; c < work.classes.size(); ++c) {
    const ClassWork& each = work.classes[c];
    for (std::size_t e = 0; e < each.epochs.size(); ++e) {
      const TypedWidth now = widths[c][e];
      const GpuType& type = work.types[now.type];
      double hours = each.epochs[e].gpu_h / each.epochs[e].speedup[now.width - 1] / type.speed;
      if (e == 0) {
        hours += each.rescale_h;
      } else if (widths[c][e - 1].type != now.type) {
        hours += work.cold_h;
      } else if (widths[c][e - 1].width != now.width) {
        hours += each.rescale_h;
      }
      sums.hours += each.jobs_per_h * hours;
      sums.usd_h += each.jobs_per_h * hours * now.width * type.usd_h;
    }
  }
  return sums;
}

/// The least hours within the budget of all plans of one class.
double least_hours(const TypedWork& work, double budget_usd_h) {
  const std::size_t most = work.classes[0].epochs[0].speedup.size();
  const std::size_t ways = most * work.types.size();
  const std::size_t epochs = work.classes[0].epochs.size();
  std::size_t plans = 1;
  for (std::size_t e = 0; e < epochs; ++e) plans *= ways;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t plan = 0; plan < plans; ++plan) {
    std::vector<TypedWidth> widths;
    for (std::size_t e = 0, rest = plan; e < epochs; ++e, rest /= ways) {
      widths.push_back({static_cast<std::uint32_t>(rest % ways / most),
                        static_cast<std::uint32_t>(rest % ways % most + 1)});
    }
    const Sums sums = sums_of(work, {widths});
    if (sums.usd_h <= budget_usd_h) least = std::min(least, sums.hours);
  }
  return least;
}

ClassWork drawn(Rng& rng, std::size_t epochs) {
  ClassWork work{"drawn", rng.uniform(0.5, 4), rng.uniform(0, 0.1), {}};
  for (std::size_t e = 0; e < epochs; ++e) {
    EpochWork& epoch = work.epochs.emplace_back(EpochWork{rng.uniform(0.1, 2), {1}});
    for (int w = 0; w < 2; ++w) {
      epoch.speedup.push_back(epoch.speedup.back() + rng.uniform(0.1, 1));
    }
  }
  return work;
}

const std::vector<GpuType> kTypes = {{"slow", 1, 1}, {"fast", 2.5, 2}};

TEST(TypedWidths, KeepTheBudgetAndAreBetweenTheBoundAndTheBestOfAllPlans) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    const std::vector<ClassWork> classes{drawn(rng, 3)};
    const TypedWork work{classes, kTypes, classes[0].rescale_h + rng.uniform(0, 0.3)};
    const double least = cheapest_types(work).usd_h;
    for (const double factor : {1.0, 1.1, 1.5, 3.0, 20.0}) {
      const double budget = least * factor * (1 + 1e-12);
      const auto plan = plan_types(work, budget);
      ASSERT_TRUE(plan) << seed;
      const Sums sums = sums_of(work, plan->widths);
      EXPECT_NEAR(sums.usd_h, plan->usd_h, 1e-9);
      EXPECT_LE(sums.usd_h, budget);
      EXPECT_NEAR(sums.hours / classes[0].jobs_per_h, plan->mean_jct_h, 1e-9);
      const double best = least_hours(work, budget) / classes[0].jobs_per_h;
      EXPECT_GE(plan->mean_jct_h, best - 1e-9);
      EXPECT_LE(plan->lower_bound_jct_h, best + 1e-9);
      if (factor < 20) continue;
      EXPECT_NEAR(plan->mean_jct_h, best, 1e-9) << "more than enough";
    }
  }
}

TEST(TypedWidths, OfOneTypeHaveTheBoundOfWidthPlans) {
  Rng rng(5);
  const std::vector<ClassWork> classes{drawn(rng, 6), drawn(rng, 2)};
  const std::vector<GpuType> one{{"only", 3, 1}};
  const TypedWork work{classes, one, 1};
  const double least = cheapest_widths(classes).least_gpus;
  EXPECT_NEAR(cheapest_types(work).least_usd_h, 3 * least, 1e-9);
  for (const double factor : {1.05, 1.4, 4.0}) {
    const auto typed = plan_types(work, 3 * factor * least);
    const auto plain = plan_widths(classes, factor * least);
    ASSERT_TRUE(typed && plain);
    EXPECT_NEAR(typed->lower_bound_jct_h, plain->lower_bound_jct_h, 1e-9);
    EXPECT_GE(typed->weighted_jct_h, plain->weighted_jct_h - 1e-9) << "nothing spends the rest";
  }
}

TEST(TypedWidths, ChangeTheTypeOnlyWhereAColdStartIsWorthIt) {
  // The second epoch gains nothing from wide jobs, the first one much.
  const std::vector<ClassWork> classes{{"two", 1, 0.01, {{1, {1, 2, 3, 4}}, {4, {1, 1, 1, 1}}}}};
  const auto changes = [&](double cold_h) {
    const auto plan = plan_types({classes, kTypes, cold_h}, 6.15);
    EXPECT_TRUE(plan);
    const auto& widths = plan->widths[0];
    return widths[0].type != widths[1].type;
  };
  EXPECT_TRUE(changes(0.01));
  EXPECT_FALSE(changes(10));
}

TEST(TypedWidths, LeaveAJobOnAnotherTypeUnlessTheRestOfItsWorkIsWorthAColdStart) {
  const std::vector<ClassWork> classes{{"one", 1, 0.01, {{4, {1, 2, 3, 4}}, {4, {1, 2, 3, 4}}}}};
  const auto plan = plan_types({classes, kTypes, 0.1}, 100);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->widths[0], (std::vector<TypedWidth>{{1, 4}, {1, 4}})) << "money is no object";
  // On four slow GPUs an epoch takes an hour, on the fast ones a half.
  const TypeStay& first = plan->stays[0][0][0];
  const TypeStay& last = plan->stays[0][1][0];
  EXPECT_EQ(last.width, 4U);
  EXPECT_NEAR(last.more_in_epoch, 0.5, 1e-6);
  EXPECT_NEAR(last.more_afterwards, -0.1, 1e-6);
  EXPECT_TRUE(last.is_left(4, 1));
  EXPECT_TRUE(last.is_left(4, 0.21));
  EXPECT_FALSE(last.is_left(4, 0.19)) << "less than six minutes are saved";
  EXPECT_TRUE(last.is_left(1, 0.19)) << "it would start again all the same";
  EXPECT_TRUE(first.is_left(4, 0)) << "another epoch is ahead";
}

TEST(TypedWidths, HaveJobsMoveThatAreWhereThePlanHadThem) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    const std::vector<ClassWork> classes{drawn(rng, 8)};
    const TypedWork work{classes, kTypes, classes[0].rescale_h + rng.uniform(0, 0.05)};
    const double budget = cheapest_types(work).usd_h * rng.uniform(1.05, 3);
    const auto plan = plan_types(work, budget);
    ASSERT_TRUE(plan);
    const auto& widths = plan->widths[0];
    for (std::size_t e = 1; e < widths.size(); ++e) {
      if (widths[e].type == widths[e - 1].type) continue;
      TypeStay stay = plan->stays[0][e][widths[e - 1].type];
      stay.more_afterwards += 1e-9;  // rounding
      EXPECT_TRUE(stay.is_left(widths[e - 1].width, 1)) << seed << ": the path is the best one";
    }
  }
}

TEST(TypedWidths, ThatNoBudgetKeepsAreRefusedWithWhatIsNeeded) {
  Rng rng(1);
  const std::vector<ClassWork> classes{drawn(rng, 2)};
  const TypedWork work{classes, kTypes, 0.1};
  const double least = cheapest_types(work).usd_h;
  const auto plan = plan_types(work, least * 0.99);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, WidthError::over_budget);
  EXPECT_THAT(plan.error().message, AllOf(HasSubstr("$" + std::to_string(least)), IsGolden()));
}

}  // namespace
}  // namespace muster::boa

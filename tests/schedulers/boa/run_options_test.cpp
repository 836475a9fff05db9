#include "schedulers/boa/run_options.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "schedulers/boa/glue_plan.hpp"
#include "tests/schedulers/boa/reference.hpp"

namespace muster::boa {
namespace {

std::vector<RunOption> of(std::vector<double> speedup) {
  return efficient_options(SpeedupHull(speedup));
}

TEST(EfficientOptions, LeaveOutWhatIsSlowerAndCostsMore) {
  // Two workers that are more than twice as fast as one.
  const auto options = of({1, 2.1, 3});
  ASSERT_EQ(options.size(), 2U);
  EXPECT_EQ(options[0].width, 2U);
  EXPECT_DOUBLE_EQ(options[0].cost, 2 / 2.1);
  EXPECT_EQ(options[1].width, 3U);
}

TEST(EfficientOptions, AreTheSameOfTheHullAndOfAllWidths) {
  const std::vector<double> speedup{1, 1.5, 1.9, 2.9, 3.0, 2.5, 3.4};
  std::vector<RunOption> all;
  for (std::uint32_t w = 1; w <= speedup.size(); ++w) {
    all.push_back({1 / speedup[w - 1], w / speedup[w - 1], w, 0});
  }
  const auto from_all = efficient_options(all);
  const auto from_hull = of(speedup);
  ASSERT_EQ(from_all.size(), from_hull.size());
  for (std::size_t i = 0; i < from_all.size(); ++i) {
    EXPECT_EQ(from_all[i].width, from_hull[i].width);
  }
}

TEST(ProblemOne, SpendsWhereAUnitSavesMostAndSplitsOnePair) {
  // From one worker to two the first saves 4.5 hours a GPU-hour, the second 9.
  const auto first = of({1, 1.8});
  const auto second = of({1, 1.9});
  const BudgetSpender spender({{1, 1, first}, {2, 1, second}});
  EXPECT_DOUBLE_EQ(spender.least_cost(), 3);
  EXPECT_DOUBLE_EQ(spender.most_cost(), 2 / 1.8 + 4 / 1.9);
  const double second_costs = 2 * (2 / 1.9 - 1);
  const double half = (2 / 1.8 - 1) / 2;
  const auto allocation = spender.spend(3 + second_costs + half);
  ASSERT_TRUE(allocation);
  EXPECT_EQ(allocation->chosen, (std::vector<std::size_t>{0, 1}));
  ASSERT_TRUE(allocation->split);
  EXPECT_EQ(allocation->split->pair, 0U);
  EXPECT_NEAR(allocation->split->share, 0.5, 1e-9);
  EXPECT_NEAR(allocation->price, (1 - 1 / 1.8) / (2 / 1.8 - 1), 1e-12);
  EXPECT_NEAR(allocation->time, 2 / 1.9 + (1 + 1 / 1.8) / 2, 1e-9);
}

TEST(ProblemOne, LeavesOverWhatBringsNothing) {
  const auto options = of({1, 1.8});
  const auto allocation = BudgetSpender({{1, 1, options}}).spend(100);
  ASSERT_TRUE(allocation);
  EXPECT_FALSE(allocation->split);
  EXPECT_EQ(allocation->price, 0);
  EXPECT_DOUBLE_EQ(allocation->cost, 2 / 1.8);
}

TEST(ProblemOne, RefusesABudgetThatNothingKeeps) {
  const auto options = of({1, 1.8});
  const auto allocation = BudgetSpender({{2, 1, options}}).spend(1.9);
  ASSERT_FALSE(allocation);
  EXPECT_EQ(allocation.error().code, WidthError::over_budget);
  EXPECT_NE(allocation.error().message.find("2.0"), std::string::npos);
}

TEST(ProblemOne, PutsFirstWhatHasMoreWeight) {
  const auto options = of({1, 1.8});
  const BudgetSpender spender({{1, 1, options}, {1, 3, options}});
  const auto allocation = spender.spend(2 + 2 / 1.8 - 1);
  ASSERT_TRUE(allocation);
  EXPECT_EQ(allocation->chosen, (std::vector<std::size_t>{0, 1}));
}

/// Of mixes of two neighbours of each pair on a grid, the least time within the budget.
RC_GTEST_PROP(ProblemOne, IsNotBeatenByAnyMix, ()) {
  std::vector<std::vector<RunOption>> options;
  for (int pair = 0; pair < 2; ++pair) {
    std::vector<double> speedup{1};
    while (speedup.size() < 5) {
      speedup.push_back(static_cast<double>(*rc::gen::inRange(50, 600)) / 100);
    }
    options.push_back(of(speedup));
  }
  const BudgetSpender spender({{1, 1, options[0]}, {2, 1, options[1]}});
  const double budget = spender.least_cost() + (spender.most_cost() - spender.least_cost()) *
                                                   static_cast<double>(*rc::gen::inRange(0, 100)) /
                                                   100;
  const auto best = spender.spend(budget);
  RC_ASSERT(best);
  RC_ASSERT(best->cost <= budget * (1 + 1e-12));
  const auto mixes = [](const std::vector<RunOption>& own) {
    std::vector<RunOption> all = own;
    for (std::size_t a = 0; a < own.size(); ++a) {
      for (std::size_t b = a + 1; b < own.size(); ++b) {
        for (int i = 1; i < 10; ++i) {
          const double share = i / 10.0;
          all.push_back({own[a].time * share + own[b].time * (1 - share),
                         own[a].cost * share + own[b].cost * (1 - share)});
        }
      }
    }
    return all;
  };
  for (const RunOption& a : mixes(options[0])) {
    for (const RunOption& b : mixes(options[1])) {
      if (a.cost + 2 * b.cost > budget) continue;
      RC_ASSERT(best->time <= (a.time + 2 * b.time) * (1 + 1e-9));
    }
  }
}

/// The pairs of a reference row, with what they refer to.
struct Problem {
  std::vector<std::vector<RunOption>> options;
  std::vector<PairLoad> pairs;
  std::vector<std::string> names;  ///< class and number of the group
  double jobs_per_h = 0;
};

class ProblemOneReference : public BoaReference {
 protected:
  Problem problem_of(const Row& row) {
    const auto classes = classes_of(row.at("workload"), row.at("calibration"));
    Problem problem;
    for (const ClassWork& work : classes) {
      const RunFigures figures(work);
      const auto groups = groups_of(row.at("granularity"), work);
      for (std::size_t g = 0; g < groups.size(); ++g) {
        problem.options.push_back(glued_options(figures, groups[g].first, groups[g].second));
        problem.names.push_back(work.name + " " + std::to_string(g));
        problem.pairs.push_back({work.jobs_per_h, 1, {}});
      }
      problem.jobs_per_h += work.jobs_per_h;
    }
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      problem.pairs[p].options = problem.options[p];
    }
    return problem;
  }
};

TEST_F(ProblemOneReference, HasTheSameMeanJctPricesAndWidths) {
  std::map<std::string, std::map<std::string, double>> widths;
  const auto key = [](const Row& row) {
    return row.at("workload") + " " + row.at("calibration") + " " + row.at("budget_gpus") + " " +
           row.at("granularity");
  };
  for (const Row& row : test::rows_of(folder_ / "boa_reference_k.csv")) {
    widths[key(row)][row.at("class") + " " + row.at("segment")] = std::stod(row.at("k"));
  }
  std::size_t compared = 0;
  for (const Row& row : test::rows_of(folder_ / "boa_reference.csv")) {
    if (row.at("method") != "problem1") continue;
    const std::string what = key(row);
    const Problem problem = problem_of(row);
    const BudgetSpender spender(problem.pairs);
    const auto best = spender.spend(std::stod(row.at("budget_gpus")));
    ASSERT_TRUE(best) << what << ": " << best.error().message;
    const auto near = [](double ours, const std::string& theirs, double of) {
      return std::abs(ours - std::stod(theirs)) <= of * std::stod(theirs);
    };
    EXPECT_TRUE(near(best->time / problem.jobs_per_h * 3600, row.at("mean_jct_s"), 1e-6)) << what;
    EXPECT_TRUE(near(best->cost, row.at("cost_gpus"), 1e-6)) << what;
    EXPECT_TRUE(near(best->price, row.at("price_mu"), 1e-4)) << what << " " << best->price;
    EXPECT_TRUE(near(spender.least_cost(), row.at("min_budget_gpus"), 1e-6)) << what;
    EXPECT_TRUE(near(spender.most_cost(), row.at("saturation_budget_gpus"), 1e-6)) << what;
    const std::size_t none = problem.pairs.size();
    const std::size_t split = best->split ? best->split->pair : none;
    EXPECT_EQ(
        split == none ? "" : problem.names[split],
        row.at("frac_class").empty() ? "" : row.at("frac_class") + " " + row.at("frac_segment"))
        << what;
    const double share = best->split ? best->split->share : 0;
    EXPECT_NEAR(share, split == none ? 0 : std::stod(row.at("frac_weight")), 1e-4) << what;
    const auto& expected = widths.at(what);
    ASSERT_EQ(expected.size(), problem.pairs.size()) << what;
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      const RunOption& option = problem.options[p][best->chosen[p]];
      const double k = expected.at(problem.names[p]);
      if (p != split) {
        EXPECT_EQ(option.width, k) << what << ": " << problem.names[p];
        continue;
      }
      const RunOption& next = problem.options[p][best->chosen[p] + 1];
      const double mixed = (option.cost + share * (next.cost - option.cost)) /
                           (option.time + share * (next.time - option.time));
      EXPECT_NEAR(mixed, k, 1e-4 * k) << what << ": " << problem.names[p];
    }
    ++compared;
  }
  EXPECT_GT(compared, 80U);
}

}  // namespace
}  // namespace muster::boa

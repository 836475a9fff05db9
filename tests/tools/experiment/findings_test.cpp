#include "tools/experiment/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/experiment/studies.hpp"

namespace muster::experiment {
namespace {

using test::report_of;
using test::study;

const Finding& finding_of(const Findings& found, std::size_t point, const std::string& key) {
  return *found.points.at(point).findings.at(*position_of(found, key));
}

TEST(Findings, pair_runs_by_their_seeds) {
  // The worlds differ by far more than the policies: 100, 200, 300 against 10, 21 and 29 less.
  const Findings found =
      find(study().plan, {report_of(100, 5), report_of(200, 5), report_of(300, 5), report_of(90, 6),
                          report_of(179, 6), report_of(271, 6)});
  const Finding& cost = finding_of(found, 1, "total_cost_usd");
  EXPECT_DOUBLE_EQ(cost.own.mean, 180);
  EXPECT_GT(*cost.own.half_width, 200);
  ASSERT_TRUE(cost.difference);
  EXPECT_DOUBLE_EQ(cost.difference->mean, -20);
  EXPECT_NEAR(*cost.difference->deviation, 9.5394, 1e-4);
  EXPECT_NEAR(*cost.difference->half_width, 4.303 * 9.5394 / 1.7320508, 1e-3);
  ASSERT_TRUE(cost.ratio);
  EXPECT_NEAR(cost.ratio->mean, (0.9 + 0.895 + 271.0 / 300) / 3, 1e-12);
}

TEST(Findings, of_the_baseline_are_compared_with_nothing) {
  const Findings found = find(study().plan, {report_of(1, 5), report_of(2, 5), report_of(3, 5),
                                             report_of(1, 6), report_of(2, 6), report_of(3, 6)});
  EXPECT_FALSE(finding_of(found, 0, "total_cost_usd").difference);
}

TEST(Findings, leave_out_pairs_of_which_one_run_is_missing) {
  const Findings found = find(study().plan, {report_of(100, 5), std::nullopt, report_of(300, 5),
                                             report_of(90, 6), report_of(170, 6), std::nullopt});
  EXPECT_EQ(found.points[1].wanted, 3u);
  EXPECT_EQ(found.points[1].done.size(), 2u);
  const Finding& cost = finding_of(found, 1, "total_cost_usd");
  EXPECT_EQ(cost.own.count, 2u);
  EXPECT_EQ(cost.difference->count, 1u);
  EXPECT_DOUBLE_EQ(cost.difference->mean, -10);
  EXPECT_FALSE(cost.difference->half_width);
}

TEST(Findings, have_no_spread_where_the_seed_decides_nothing) {
  const Findings found =
      find(study().plan, {report_of(100, 5, 1), report_of(100, 5, 2), report_of(100, 5, 3),
                          report_of(90, 6), report_of(90, 6), report_of(91, 6)});
  EXPECT_TRUE(found.points[0].seedless);
  EXPECT_FALSE(found.points[1].seedless);
  EXPECT_FALSE(finding_of(found, 0, "total_cost_usd").own.deviation);
  // Times differ from run to run whatever the seed.
  EXPECT_TRUE(finding_of(found, 0, "wall_s").own.deviation);
  EXPECT_TRUE(finding_of(found, 1, "total_cost_usd").difference->deviation);
}

TEST(Findings, know_metrics_shares_of_cost_and_notes_and_no_ratios_of_a_run_to_itself) {
  RunJson run = report_of(100, 5);
  run["round_figures"] = {{"gain_usd", {{"rounds", 2}, {"mean", 7.5}}}};
  const Findings found = find(study().plan, {run, {}, {}, {}, {}, {}});
  EXPECT_TRUE(position_of(found, "allocation.gpu"));
  EXPECT_FALSE(position_of(found, "normalized_cost"));
  EXPECT_FALSE(position_of(found, "short_jobs.mean_jct_s")) << "no run has such jobs";
  EXPECT_DOUBLE_EQ(finding_of(found, 0, "cost_by_purpose.tasks").own.mean, 75);
  EXPECT_DOUBLE_EQ(finding_of(found, 0, "round_figures.gain_usd").own.mean, 7.5);
}

}  // namespace
}  // namespace muster::experiment

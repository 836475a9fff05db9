// Width plans of the published traces beside those of an independent search on a grid of prices.

#include <string>

#include "schedulers/boa/width_plan.hpp"
#include "tests/schedulers/boa/reference.hpp"

namespace muster::boa {
namespace {

TEST_F(BoaReference, PlansKeepTheBudgetAndAreNoWorseThanThePublishedSearches) {
  int compared = 0;
  for (const Row& row : test::rows_of(folder_ / "boa_reference.csv")) {
    if (!row.at("method").starts_with("rescale")) continue;
    const std::string what = row.at("workload") + " " + row.at("calibration") + " " +
                             row.at("budget_gpus") + " " + row.at("method");
    const double budget = std::stod(row.at("budget_gpus"));
    const auto plan = plan_widths(classes_of(row.at("workload"), row.at("calibration")), budget);
    ASSERT_TRUE(plan) << what << ": " << plan.error().message;
    const double jct_s = plan->mean_jct_h * 3600;
    EXPECT_LE(plan->cost_gpus, budget) << what;
    EXPECT_LE(jct_s, 1.01 * std::stod(row.at("mean_jct_s"))) << what;
    EXPECT_GE(jct_s, plan->lower_bound_jct_h * 3600 * (1 - 1e-9)) << what;
    if (!row.at("lower_bound_jct_s").empty()) {
      EXPECT_GE(jct_s, std::stod(row.at("lower_bound_jct_s")) * (1 - 1e-6)) << what;
    }
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST_F(BoaReference, PlansWithTimeSharingReachTheBound) {
  int closed = 0;
  for (const Row& row : test::rows_of(folder_ / "boa_reference.csv")) {
    if (row.at("method") != "rescale_price_dp") continue;
    const std::string what =
        row.at("workload") + " " + row.at("calibration") + " " + row.at("budget_gpus");
    const double budget = std::stod(row.at("budget_gpus"));
    const auto classes = classes_of(row.at("workload"), row.at("calibration"));
    const auto shared = share_widths(classes, budget);
    const auto plan = plan_widths(classes, budget);
    ASSERT_TRUE(shared && plan) << what;
    EXPECT_LE(shared->cost_gpus, budget * (1 + 1e-12)) << what;
    EXPECT_NEAR(shared->mean_jct_h / shared->lower_bound_jct_h, 1, 1e-9) << what;
    EXPECT_LE(shared->mean_jct_h, plan->mean_jct_h * (1 + 1e-12)) << what;
    EXPECT_GE(shared->mean_jct_h * 3600, std::stod(row.at("lower_bound_jct_s")) * (1 - 1e-6))
        << what;
    closed += shared->shared.has_value();
  }
  EXPECT_GT(closed, 10);
}

}  // namespace
}  // namespace muster::boa

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

}  // namespace
}  // namespace muster::boa

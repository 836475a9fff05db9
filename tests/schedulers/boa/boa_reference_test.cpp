// Width plans of the published traces beside those of an independent search on a grid of prices.

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "schedulers/boa/width_plan.hpp"
#include "tests/support/training_tables.hpp"

namespace muster::boa {
namespace {

using Row = std::map<std::string, std::string>;

class BoaReference : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::all_training_data();
    if (!std::filesystem::exists(folder_ / "boa_reference.csv")) {
      std::cerr << "SKIPPED: " << folder_ << " is absent; MUSTER_DATA names the folder above it\n";
      GTEST_SKIP();
    }
    // Of classes for which a calibration has no rows of its own those of osdi21 hold.
    for (const Row& row : test::rows_of(folder_ / "epochs.csv")) {
      epochs_[row.at("profile") + row.at("class")].push_back(
          {std::stod(row.at("size_gpu_hours")), {}});
    }
    for (const Row& row : test::rows_of(folder_ / "speedup_by_epoch.csv")) {
      auto& epochs = epochs_[row.at("profile") + row.at("class")];
      epochs[std::stoul(row.at("epoch"))].speedup.push_back(std::stod(row.at("speedup")));
    }
  }

  std::vector<ClassWork> classes_of(const std::string& workload, const std::string& calibration) {
    std::vector<ClassWork> classes;
    for (const Row& row : test::rows_of(folder_ / "boa_inputs.csv")) {
      if (row.at("workload") != workload || row.at("calibration") != calibration) continue;
      const std::string& name = row.at("class");
      const bool own = epochs_.contains(calibration + name);
      ClassWork work{name, std::stod(row.at("lambda_per_h")), std::stod(row.at("rescale_s")) / 3600,
                     epochs_[(own ? calibration : "osdi21") + name]};
      for (EpochWork& epoch : work.epochs) epoch.gpu_h *= std::stod(row.at("slowdown"));
      if (name == "ncf") {
        for (EpochWork& epoch : work.epochs) epoch.speedup.resize(1);
      }
      classes.push_back(std::move(work));
    }
    return classes;
  }

  std::filesystem::path folder_;
  std::map<std::string, std::vector<EpochWork>> epochs_;
};

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

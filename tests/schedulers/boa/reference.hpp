#pragma once

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "schedulers/boa/width_plan.hpp"
#include "tests/support/training_tables.hpp"

namespace muster::boa {

/// A row of a table of the published traces' references.
using Row = std::map<std::string, std::string>;

/// The classes of the published traces beside what an independent program made of them.
class BoaReference : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::all_training_data();
    if (!std::filesystem::exists(folder_ / "boa_reference.csv")) {
      std::cerr << "SKIPPED: " << folder_ << " is absent; MUSTER_DATA names the folder above it\n";
      GTEST_SKIP();
    }
    segments_ = test::rows_of(folder_ / "segments.csv");
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

  /// The k-th group of consecutive epochs that the reference has at a granularity.
  std::vector<std::pair<std::size_t, std::size_t>> groups_of(const std::string& granularity,
                                                             const ClassWork& work) {
    const std::size_t epochs = work.epochs.size();
    if (granularity == "class") return {{0, epochs}};
    std::vector<std::pair<std::size_t, std::size_t>> groups;
    for (std::size_t e = 0; granularity == "epoch" && e < epochs; ++e)
      groups.emplace_back(e, e + 1);
    for (const Row& row : granularity == "segment" ? segments_ : std::vector<Row>{}) {
      if (row.at("class") != work.name || row.at("profile") != "osdi21") continue;
      groups.emplace_back(std::stoul(row.at("first_epoch")), std::stoul(row.at("last_epoch")) + 1);
    }
    return groups;
  }

  std::filesystem::path folder_;
  std::vector<Row> segments_;
  std::map<std::string, std::vector<EpochWork>> epochs_;
};

}  // namespace muster::boa

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "config/csv.hpp"
#include "replay/workload/training_profiles.hpp"
#include "tests/support/places.hpp"

namespace muster::test {

/// Two classes of training jobs and what is derived from them, cut down to a few files.
inline std::filesystem::path small_training_data() {
  return source_dir() / "tests/data/dl";
}

/// All classes; the folder may not exist.
inline std::filesystem::path all_training_data() {
  const char* data = std::getenv("MUSTER_DATA");  // NOLINT(concurrency-mt-unsafe)
  if (data != nullptr && *data != '\0') return std::filesystem::path(data) / "dl";
  return source_dir() / "../shared/data/dl";
}

/// The profiles of a folder that has to be right.
inline replay::TrainingProfiles profiles_of(const std::filesystem::path& folder,
                                            replay::TrainingCalibration calibration) {
  auto profiles = replay::load_training_profiles(folder, calibration);
  EXPECT_TRUE(profiles.has_value()) << (profiles ? "" : profiles.error().message);
  return profiles ? std::move(profiles).value() : replay::TrainingProfiles{};
}

/// Rows of a CSV file, by the names of its columns.
inline std::vector<std::map<std::string, std::string>> rows_of(const std::filesystem::path& file) {
  std::vector<std::map<std::string, std::string>> rows;
  const auto table = read_csv(file);
  EXPECT_TRUE(table.has_value()) << (table ? "" : table.error().message);
  if (!table) return rows;
  for (const CsvRow& row : table->rows) {
    auto& named = rows.emplace_back();
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      named[table->header.fields[i]] = row.fields[i];
    }
  }
  return rows;
}

}  // namespace muster::test

#include "schedulers/boa/speedup_hull.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/training_tables.hpp"

namespace muster::boa {
namespace {

std::vector<HullVertex> vertices(std::vector<double> speedup) {
  const SpeedupHull hull(speedup);
  return {hull.vertices().begin(), hull.vertices().end()};
}

TEST(SpeedupHulls, OfOneWidthIsThatWidth) {
  EXPECT_EQ(vertices({1}), (std::vector<HullVertex>{{1, 1}}));
  EXPECT_EQ(SpeedupHull(std::vector<double>{1}).at(7), 1);
}

TEST(SpeedupHulls, KeepWhatIsConcave) {
  EXPECT_EQ(vertices({1, 1.8, 2.4}), (std::vector<HullVertex>{{1, 1}, {2, 1.8}, {3, 2.4}}));
}

TEST(SpeedupHulls, BridgeWhatIsNot) {
  EXPECT_EQ(vertices({1, 1.2, 3}), (std::vector<HullVertex>{{1, 1}, {3, 3}}));
  EXPECT_DOUBLE_EQ(SpeedupHull(std::vector<double>{1, 1.2, 3}).at(2), 2);
}

TEST(SpeedupHulls, StayAtTheFirstMaximum) {
  const SpeedupHull hull(std::vector<double>{1, 1.9, 1.5, 1.9, 0.4});
  EXPECT_EQ(hull.vertices().back(), (HullVertex{2, 1.9}));
  EXPECT_EQ(hull.at(2.5), 1.9);
  EXPECT_EQ(hull.at(64), 1.9);
}

RC_GTEST_PROP(SpeedupHulls, AreMonotoneConcaveTightAndNowhereBelow, ()) {
  std::vector<double> speedup{1};
  while (speedup.size() < 12) {
    speedup.push_back(static_cast<double>(*rc::gen::inRange(1, 900)) / 100);
  }
  const SpeedupHull hull(speedup);
  double before = 0;
  double rise = std::numeric_limits<double>::infinity();
  for (std::uint32_t width = 1; width <= speedup.size(); ++width) {
    const double at = hull.at(width);
    RC_ASSERT(at >= speedup[width - 1] - 1e-12);
    if (width > 1) {
      RC_ASSERT(at - before >= -1e-12);
      RC_ASSERT(at - before <= rise + 1e-12);
      rise = at - before;
    }
    before = at;
  }
  for (const HullVertex& vertex : hull.vertices()) {
    RC_ASSERT(vertex.speedup == speedup[vertex.width - 1]);
  }
}

/// Compares the hull of each epoch of a table with the columns that say it.
std::size_t compare(const std::filesystem::path& file) {
  std::map<std::string, std::vector<std::map<std::string, std::string>>> epochs;
  for (const auto& row : test::rows_of(file)) {
    epochs[row.at("profile") + " " + row.at("class") + " " + row.at("epoch")].push_back(row);
  }
  for (const auto& [name, rows] : epochs) {
    std::vector<double> speedup;
    for (const auto& row : rows) speedup.push_back(std::stod(row.at("speedup")));
    const SpeedupHull hull(speedup);
    std::vector<std::uint32_t> touches;
    for (std::uint32_t width = 1; width <= rows.size(); ++width) {
      const auto& row = rows[width - 1];
      EXPECT_NEAR(hull.at(width), std::stod(row.at("hull")), 1e-7) << name << " " << width;
      if (row.at("is_hull_vertex") == "1") touches.push_back(width);
    }
    std::vector<std::uint32_t> found;
    for (const HullVertex& vertex : hull.vertices()) found.push_back(vertex.width);
    EXPECT_EQ(found, touches) << name;
  }
  return epochs.size();
}

TEST(SpeedupHulls, AreThoseOfTheDerivedTables) {
  EXPECT_EQ(compare(test::small_training_data() / "speedup_by_epoch.csv"), 12U);
}

TEST(SpeedupHulls, AreThoseOfAllDerivedTables) {
  const auto file = test::all_training_data() / "speedup_by_epoch.csv";
  if (!std::filesystem::exists(file)) {
    std::cerr << "SKIPPED: " << file << " is absent; MUSTER_DATA names the folder above dl/\n";
    GTEST_SKIP();
  }
  EXPECT_GT(compare(file), 300U);
}

}  // namespace
}  // namespace muster::boa

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "config/catalog_file.hpp"
#include "config/price_series_file.hpp"
#include "config/replay_config.hpp"
#include "config/shipped_file.hpp"
#include "replay/pairwise_interference.hpp"
#include "replay/replay_parts.hpp"
#include "replay/workload/synthetic.hpp"
#include "tests/support/places.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

const fs::path kConfig = test::source_dir() / "config";

Catalog shipped(const std::string& name) {
  return load_catalog(kConfig / "catalogs" / (name + ".csv")).value();
}

const InstanceType& type(const Catalog& catalog, const std::string& name) {
  return catalog[catalog.find(name).value()];
}

TEST(ShippedCatalogs, HaveEvasTypesWithAllAndWithHalfTheCpus) {
  const Catalog all = shipped("ec2-eva");
  const Catalog half = shipped("ec2-eva-half-cpus");
  ASSERT_EQ(all.size(), 21U);
  ASSERT_EQ(half.size(), 21U);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const InstanceType& a = all[TypeId{i}];
    const InstanceType& b = half[TypeId{i}];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.on_demand, b.on_demand);
    EXPECT_EQ(a.capacity[Resource::cpu], 2 * b.capacity[Resource::cpu]) << a.name;
    EXPECT_EQ(a.capacity[Resource::memory], b.capacity[Resource::memory]);
    EXPECT_EQ(a.acquire + a.setup, b.acquire + b.setup);
    // The note gives 150 to 234 s from request to ready.
    EXPECT_GE(a.acquire + a.setup, 150s) << a.name;
    EXPECT_LE(a.acquire + a.setup, 234s) << a.name;
  }
}

TEST(ShippedCatalogs, KnowTheP3OfThePaper) {
  const Catalog catalog = shipped("ec2-eva");
  const InstanceType& p3 = type(catalog, "p3.2xlarge");
  EXPECT_EQ(p3.capacity, Resources::of(1, 8, 61));
  EXPECT_EQ(p3.on_demand, Price::from_usd_h(3.06));
  EXPECT_EQ(p3.acquire, 22s);
  EXPECT_EQ(p3.setup, 151s);
  EXPECT_EQ(p3.terminate, 1s);
}

TEST(ShippedCatalogs, HaveTheRegionOfJuly2026) {
  const Catalog catalog = shipped("ec2-us-east-1-2026-07");
  EXPECT_EQ(catalog.size(), 803U);
  EXPECT_EQ(type(catalog, "g6.48xlarge").capacity, Resources::of(8, 192, 768));
  EXPECT_EQ(type(catalog, "g6.48xlarge").on_demand, Price::from_usd_h(13.3504));
}

TEST(ShippedPrices, AreFoundByTheirNameAndMoveForSixHours) {
  const auto series = load_price_series("m4-six-hours", shipped("ec2-m4-us-west-2-2017"));
  ASSERT_TRUE(series) << series.error().message;
  const fs::path file = kConfig / "prices/m4-six-hours.csv";
  EXPECT_EQ(prices_path("m4-six-hours"), file);
  EXPECT_EQ(prices_path("m4-six-hours.csv"), "m4-six-hours.csv") << "a file's own name";
  EXPECT_LT(fs::file_size(file), 16U << 10);
}

class ShippedReplayConfig : public testing::TestWithParam<const char*> {};

TEST_P(ShippedReplayConfig, IsValidAndItsShippedFilesAreThere) {
  const auto config =
      load_replay_config(replay::replay_parts(), kConfig / "replay" / GetParam(), {});
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_TRUE(fs::exists(config.value().catalog));
  const fs::path& matrix =
      config.value().world.interference.own.of<replay::PairwiseSettings>().matrix;
  EXPECT_TRUE(matrix.empty() || fs::exists(matrix));
  const Catalog catalog = load_catalog(config.value().catalog).value();
  EXPECT_TRUE(fleet_share(config.value().fleet.parts, catalog).has_value());
  if (config.value().workload.format == "muster-csv") {
    EXPECT_TRUE(fs::exists(config.value().workload.path));
  }
  if (config.value().workload.format == "synthetic") {
    EXPECT_TRUE(fs::exists(config.value().workload.own.of<replay::SyntheticWorkload>().workloads));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedReplayConfig,
                         testing::Values("eva-200.toml", "eva-gavel.toml", "eva-alibaba.toml",
                                         "eva-multi-task.toml", "yahoo-tiny10.toml", "yahoo.toml",
                                         "google.toml", "facebook.toml", "google-composed.toml",
                                         "boa/workload1.toml", "boa/workload1-85.toml",
                                         "boa/newtrace.toml", "boa/filtertrace.toml",
                                         "boa/osdi21.toml", "moving-prices.toml"),
                         [](const auto& each) {
                           std::string name = fs::path(each.param).stem().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace muster

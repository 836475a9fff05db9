#include "config/catalog_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::IsGoldenAt;
using test::TempFile;
using testing::HasSubstr;

constexpr std::string_view kHeader = "name,family,gpu,cpu,memory_gib,usd_per_hour\n";

std::string error_of(const std::string& content) {
  const TempFile file("types.csv", content);
  return test::message_of(load_catalog(file.path()), ConfigError::invalid);
}

TEST(CatalogFile, ReadsEveryColumn) {
  const TempFile file("types.csv",
                      "name,family,gpu,cpu,memory_gib,usd_per_hour,storage_gib,network_gbit_s,"
                      "spot_usd_per_hour,acquire_s,setup_s,terminate_s\n"
                      "g.big,g,2,16,122.5,7.2,900,25,2.16,22,151.5,1\n");
  const Catalog catalog = load_catalog(file.path()).value();
  const InstanceType& type = catalog[TypeId{0}];
  EXPECT_EQ(type.name, "g.big");
  EXPECT_EQ(type.family, "g");
  Resources capacity = Resources::of(2, 16, 122.5);
  capacity[Resource::storage] = 900;
  capacity[Resource::network] = 25;
  EXPECT_EQ(type.capacity, capacity);
  EXPECT_EQ(type.on_demand, Price::from_usd_h(7.2));
  EXPECT_EQ(type.spot, Price::from_usd_h(2.16));
  EXPECT_EQ(type.acquire, 22s);
  EXPECT_EQ(type.setup, 151500ms);
  EXPECT_EQ(type.terminate, 1s);
}

TEST(CatalogFile, TakesWhatIsLeftOutAsNothing) {
  const TempFile file("types.csv", std::string(kHeader) + "c.s,c,0,2,4,0.08925\n");
  const Catalog catalog = load_catalog(file.path()).value();
  const InstanceType& type = catalog[TypeId{0}];
  EXPECT_EQ(type.capacity, Resources::of(0, 2, 4));
  EXPECT_EQ(type.spot, std::nullopt);
  EXPECT_EQ(type.acquire + type.setup + type.terminate, 0s);
}

TEST(CatalogFile, KeepsTheOrderOfTheFile) {
  const TempFile file("types.csv", std::string(kHeader) + "b,c,0,2,4,1\na,c,0,2,4,2\n");
  const Catalog catalog = load_catalog(file.path()).value();
  EXPECT_EQ(catalog.find("b"), TypeId{0});
  EXPECT_EQ(catalog.find("a"), TypeId{1});
}

TEST(CatalogFile, RejectsARepeatedName) {
  EXPECT_THAT(error_of(std::string(kHeader) + "a,c,0,2,4,1\nb,c,0,2,4,1\na,c,0,2,4,2\n"),
              IsGoldenAt("types.csv:4: name"));
}

TEST(CatalogFile, RejectsUnknownAndMissingColumns) {
  const std::string error = error_of("name,family,gpu,cpus,memory_gib\na,c,0,2,4\n");
  EXPECT_THAT(error, IsGoldenAt("types.csv:1: header"));
  EXPECT_THAT(error, HasSubstr("types.csv:1: header: column 'cpu' is missing"));
  EXPECT_THAT(error, HasSubstr("types.csv:1: header: column 'usd_per_hour' is missing"));
}

TEST(CatalogFile, RejectsNegativeAndNonFiniteNumbers) {
  const std::string error =
      error_of(std::string(kHeader) + "a,c,-1,2,4,1\nb,c,0,inf,4,1\nd,c,0,2,4,nan\n");
  EXPECT_THAT(error, IsGoldenAt("types.csv:2: gpu"));
  EXPECT_THAT(error, HasSubstr("it is '-1'"));
  EXPECT_THAT(error, IsGoldenAt("types.csv:3: cpu", "types.csv:4: usd_per_hour"));
}

TEST(CatalogFile, RejectsANegativeDelay) {
  EXPECT_THAT(error_of("name,family,gpu,cpu,memory_gib,usd_per_hour,setup_s\na,c,0,1,1,1,-5\n"),
              IsGoldenAt("types.csv:2: setup_s"));
}

TEST(CatalogFile, RejectsAnEmptyCatalog) {
  EXPECT_THAT(error_of(std::string(kHeader)), IsGoldenAt("types.csv"));
}

constexpr std::string_view kLabelled = "name,family,gpu,cpu,memory_gib,usd_per_hour,labels\n";

TEST(CatalogFile, ReadsTheLabelsOfTypesInTheOrderOfTheirKeys) {
  const TempFile file("types.csv", std::string(kLabelled) +
                                       "a,c,0,2,4,1,zone=eu-1a;disk=nvme\n"
                                       "b,c,0,2,4,1,\n");
  const Catalog catalog = load_catalog(file.path()).value();
  EXPECT_EQ(catalog[TypeId{0}].labels, (Labels{{"disk", "nvme"}, {"zone", "eu-1a"}}));
  EXPECT_EQ(*catalog[TypeId{0}].label("zone"), "eu-1a");
  EXPECT_EQ(catalog[TypeId{0}].label("rack"), nullptr);
  EXPECT_TRUE(catalog[TypeId{1}].labels.empty());
  EXPECT_EQ(catalog.with_delays(0.5)[TypeId{0}].labels.size(), 2U);
}

TEST(CatalogFile, SaysWhatIsWrongWithALabelAndWhereInTheField) {
  std::string many = "k0=v";
  for (int i = 1; i <= 16; ++i) many += ";k" + std::to_string(i) + "=v";
  for (const std::string& labels :
       {std::string("zone"), std::string("zone=eu-1a;Disk=nvme"), std::string("zone="),
        std::string("=a"), std::string("zone=a;zone=b"), std::string("zone=a;"),
        std::string("zone=a b"), std::string("1st=a"), many, "zone=" + std::string(65, 'a')}) {
    EXPECT_THAT(error_of(std::string(kLabelled) + "a,c,0,2,4,1," + labels + "\n"),
                IsGoldenAt("types.csv:2: labels"))
        << labels;
  }
}

TEST(CatalogFile, HasTheDelaysThatTheCloudHas) {
  const TempFile file("types.csv",
                      "name,family,gpu,cpu,memory_gib,usd_per_hour,acquire_s,terminate_s\n"
                      "a,c,0,1,1,1,10,5\n");
  const Catalog catalog = load_catalog(file.path()).value();
  CloudConfig cloud;
  EXPECT_EQ(with_delays_of(cloud, catalog).types()[0].terminate, 5s);
  cloud.reclaim = 2min;
  EXPECT_EQ(with_delays_of(cloud, catalog).types()[0].terminate, 125s);
  EXPECT_EQ(with_delays_of(cloud, catalog).types()[0].acquire, 10s);
  cloud.delay_scale = 0.1;
  EXPECT_EQ(with_delays_of(cloud, catalog).types()[0].terminate, 12500ms);
}

}  // namespace
}  // namespace muster

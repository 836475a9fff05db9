#include "tools/market/series.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "config/price_series_file.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/tools/market/market_support.hpp"

namespace muster::market {
namespace {

using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kHeader = "timestamp_utc,instance_type,availability_zone,usd_per_hour\n";

auto read(const std::string& rows, const TickFilter& filter = {}) {
  const muster::test::TempFile file("t.csv", kHeader + rows);
  return read_ticks(file.path(), filter);
}

std::string error_of(const std::string& rows) {
  const auto series = read(rows);
  return series ? "" : message_of(series, ConfigError::invalid);
}

TEST(Ticks, AreReadByTypeAndZoneInTheOrderOfTime) {
  const auto series = read(
      "2016-02-25T12:00:05Z,m4.large,us-east-1b,0.0261\n"
      "2016-02-25T12:00:00Z,m4.large,us-east-1b,0.026\n"
      "2016-02-25T12:00:00Z,m4.large,us-east-1c,0.030001\n");
  ASSERT_TRUE(series) << series.error().message;
  const Seconds noon = *parse_day("2016-02-25") + 12 * 3600;
  EXPECT_THAT(series->at({"m4.large", "b"}), ElementsAre(Tick{noon, 26000}, Tick{noon + 5, 26100}));
  EXPECT_THAT(series->at({"m4.large", "c"}), ElementsAre(Tick{noon, 30001}));
}

TEST(Ticks, OfOneTimeAreTheLastOfThem) {
  const auto series = read(
      "2016-02-25T12:00:05Z,m4.large,us-east-1b,0.0261\n"
      "2016-02-25T12:00:00Z,m4.large,us-east-1b,0.026\n"
      "2016-02-25T12:00:05Z,m4.large,us-east-1b,0.0262\n");
  ASSERT_TRUE(series) << series.error().message;
  const Seconds noon = *parse_day("2016-02-25") + 12 * 3600;
  EXPECT_THAT(series->at({"m4.large", "b"}), ElementsAre(Tick{noon, 26000}, Tick{noon + 5, 26200}));
}

TEST(Ticks, AreOnlyThoseAskedFor) {
  const auto series = read(
      "2016-02-25T12:00:00Z,m4.large,us-east-1b,0.026\n"
      "2016-02-25T12:00:00Z,m4.large,us-east-1c,0.03\n"
      "2016-02-25T12:00:00Z,m4.xlarge,us-east-1c,0.03\n",
      {.type = "m4.large", .zone = "c"});
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->size(), 1U);
}

TEST(Ticks, SayWhereARowIsWrong) {
  EXPECT_THAT(error_of("2016-02-30T12:00:00Z,m4.large,us-east-1b,0.026\n"),
              IsGoldenAt("t.csv:2: timestamp_utc"));
  EXPECT_THAT(error_of("2016-02-25T12:00:00Z,m4.large,us-east-1b,0\n"),
              HasSubstr("t.csv:2: usd_per_hour: has to be"));
  EXPECT_THAT(error_of("2016-02-25T12:00:00Z,m4.large,us-east-1b,0.0000001\n"),
              HasSubstr("multiple of 0.000001"));
  EXPECT_THAT(error_of(""), HasSubstr("has no ticks"));
}

TEST(Ticks, OfTwoRegionsAreNotTakenForOneZone) {
  EXPECT_THAT(error_of("2016-02-25T12:00:00Z,m4.large,us-east-1a,0.026\n"
                       "2016-02-25T12:00:00Z,m4.xlarge,us-west-2a,0.026\n"),
              IsGoldenAt("t.csv:3: availability_zone"));
  // What is left out is of no matter, nor are letters alone.
  EXPECT_TRUE(
      read("2016-02-25T12:00:00Z,m4.large,us-east-1a,0.026\n"
           "2016-02-25T12:00:00Z,m4.xlarge,us-west-2a,0.026\n",
           {.type = "m4.large", .zone = {}}));
  EXPECT_EQ(error_of("2016-02-25T12:00:00Z,m4.large,a,0.026\n"
                     "2016-02-25T12:00:00Z,m4.large,b,0.026\n"),
            "");
}

TEST(Ticks, MayStateTimesAsCloudsDo) {
  const auto series = read(
      "2016-02-25T12:00:00.000Z,m4.large,us-east-1a,0.026\n"
      "2016-02-25T12:01:00+00:00,m4.large,us-east-1a,0.027\n"
      "2016-02-25 14:02:00.9+02:00,m4.large,us-east-1a,0.028\n"
      "1456401780,m4.large,us-east-1a,0.029\n");
  ASSERT_TRUE(series) << series.error().message;
  const Seconds noon = 1'456'401'600;
  EXPECT_THAT(series->at({"m4.large", "a"}),
              ElementsAre(Tick{noon, 26'000}, Tick{noon + 60, 27'000}, Tick{noon + 120, 28'000},
                          Tick{noon + 180, 29'000}));
}

TEST(Zones, AreToldApartByTheirNamesAndIds) {
  EXPECT_EQ(zone_letter("us-west-2a"), "a");
  EXPECT_EQ(zone_letter("us-west-2-lax-1b"), "b");
  EXPECT_EQ(zone_letter("use1-az4"), "az4");
  EXPECT_EQ(zone_letter("us-central1-f"), "f");
  EXPECT_EQ(zone_letter("westeurope-2"), "2");
  EXPECT_EQ(zone_letter("c"), "c");
  const std::string rows =
      "2016-02-25T12:00:00Z,m4.large,use1-az4,0.026\n"
      "2016-02-25T12:00:00Z,m4.large,use1-az6,0.026\n";
  const auto both = read(rows);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->size(), 2U);
  EXPECT_EQ(read(rows, {.type = {}, .zone = "use1-az6"})->size(), 1U);
  EXPECT_THAT(message_of(read(rows, {.type = {}, .zone = "az5"}), ConfigError::invalid),
              AllOf(HasSubstr("'az5'"), HasSubstr("az4, az6"), IsGolden()));
}

TEST(Series, CutToATimeBeginWithWhatHeldThen) {
  SeriesMap series;
  series[{"t", "a"}] = {{10, 5}, {20, 6}, {30, 7}, {40, 8}};
  series[{"t", "b"}] = {{30, 9}};
  series[{"t", "c"}] = {{50, 9}};
  const SeriesMap part = cut(series, 25, 40);
  EXPECT_EQ(part.size(), 2U);
  EXPECT_THAT(part.at({"t", "a"}), ElementsAre(Tick{25, 6}, Tick{30, 7}));
  // Nobody knows what it cost before its first tick.
  EXPECT_THAT(part.at({"t", "b"}), ElementsAre(Tick{30, 9}));
}

TEST(Series, AreWrittenAsAFileForTheCloud) {
  SeriesMap series;
  series[{"m4.large", "a"}] = {{100, 24300}, {130, 24351}};
  series[{"m4.4xlarge", "b"}] = {{110, 1'000'000}};
  std::ostringstream out;
  write_prices(series, 100, out);
  EXPECT_EQ(out.str(),
            "time_s,type,market,zone,price_usd_h,available\n"
            "0,m4.large,spot,a,0.0243,1\n10,m4.4xlarge,spot,b,1.0000,1\n"
            "30,m4.large,spot,a,0.024351,1\n");
  const muster::test::TempFile file("p.csv", out.str());
  const auto prices = load_price_series(file.path(), test::catalog());
  ASSERT_TRUE(prices) << prices.error().message;
  EXPECT_EQ(prices->steps[2].offering,
            (Offering{"m4.large", Market::spot, "a", Price::from_usd_h(0.024351)}));
}

TEST(Days, AreReadAndWritten) {
  EXPECT_EQ(parse_day("1970-01-02"), kDay);
  EXPECT_EQ(day_text(*parse_day("2017-06-05")), "2017-06-05");
  EXPECT_FALSE(parse_day("2017-02-29"));
  EXPECT_FALSE(parse_day("2017-6-5"));
  EXPECT_FALSE(parse_day("2017-06-05T00:00:00Z"));
}

}  // namespace
}  // namespace muster::market

#include "tools/market/weekly_stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::market {
namespace {

using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kHeader =
    "week_end_utc,instance_type,region,availability_zone,min_usd,max_usd,mean_usd,variance,"
    "ticks_at_or_over_ondemand,ticks\n";

auto read(const std::string& rows) {
  const muster::test::TempFile file("w.csv", kHeader + rows);
  return read_weekly_stats(file.path(), {"us-west-2", "m4"});
}

std::string error_of(const std::string& rows) {
  const auto stats = read(rows);
  return stats ? "" : message_of(stats, ConfigError::invalid);
}

TEST(WeeklyStats, AreThoseOfTheRegionAndFamilyByZone) {
  const auto stats = read(
      "2017-07-01,m4.large,us-west-2,us-west-2a,0.1,0.3,0.2,0.01,2,30\n"
      "2017-06-24,m4.large,us-west-2,us-west-2a,0.1,0.3,0.2,0.01,2,20\n"
      "2017-06-24,m4.large,us-west-2,all,0.1,0.3,0.2,0.01,2,20\n"
      "2017-06-24,m4.large,us-east-1,us-east-1a,0.1,0.3,0.2,0.01,2,20\n"
      "2017-06-24,m40.large,us-west-2,us-west-2a,0.1,0.3,0.2,0.01,2,20\n");
  ASSERT_TRUE(stats) << stats.error().message;
  ASSERT_EQ(stats->size(), 1U);
  const auto& weeks = stats->at({"m4.large", "a"});
  ASSERT_EQ(weeks.size(), 2U);
  EXPECT_EQ(weeks[0].ticks, 20U);
  EXPECT_EQ(weeks[1].ticks, 30U);
}

TEST(WeeklyStats, OfAWeekWithoutSnapshotAreThoseOfTheNearest) {
  std::vector<WeekStats> weeks(2);
  weeks[0].end = 10 * kWeek;
  weeks[1].end = 13 * kWeek;
  EXPECT_EQ(&nearest_week(weeks, 2 * kWeek), &weeks[0]);
  EXPECT_EQ(&nearest_week(weeks, 11 * kWeek), &weeks[0]);
  EXPECT_EQ(&nearest_week(weeks, 12 * kWeek), &weeks[1]);
  weeks[1].end = 12 * kWeek;
  EXPECT_EQ(&nearest_week(weeks, 11 * kWeek), &weeks[0]);
}

TEST(WeeklyStats, SayWhereARowIsWrong) {
  EXPECT_THAT(error_of("today,m4.large,us-west-2,us-west-2a,0.1,0.3,0.2,0,0,9\n"),
              IsGoldenAt("w.csv:2: week_end_utc"));
  EXPECT_THAT(error_of("2017-06-24,m4.large,us-west-2,us-west-2a,0.4,0.3,0.35,0,0,9\n"),
              HasSubstr("w.csv:2: max_usd: is below min_usd"));
  EXPECT_THAT(error_of("2017-06-24,m4.large,us-west-2,us-west-2a,0.1,0.3,0.5,0,0,9\n"),
              IsGoldenAt("w.csv:2: mean_usd"));
  EXPECT_THAT(error_of("2017-06-24,m4.large,us-west-2,us-west-2a,0.1,0.3,0.2,0,10,9\n"),
              HasSubstr("ticks_at_or_over_ondemand: are more than"));
  EXPECT_THAT(error_of("2017-06-24,m4.large,us-west-2,us-west-2a,0.1,0.3,0.2,0,0,0\n"),
              IsGoldenAt("w.csv:2: ticks"));
  EXPECT_THAT(error_of("2017-06-24,c4.large,us-west-2,us-west-2a,0.1,0.3,0.2,0,0,9\n"),
              AllOf(HasSubstr("us-west-2"), IsGolden()));
}

TEST(WeeklyStats, HaveEachWeekOfASeriesOnce) {
  const std::string row = "2017-06-24,m4.large,us-west-2,us-west-2a,0.1,0.3,0.2,0.01,2,";
  EXPECT_THAT(error_of(row + "20\n2017-06-24,m4.large,us-west-2,us-west-2b,0.1,0.3,0.2,0.01,2,9\n" +
                       row + "30\n"),
              IsGoldenAt("w.csv:4: week_end_utc"));
}

}  // namespace
}  // namespace muster::market

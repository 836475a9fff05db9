#include "config/recurrence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "config/time_text.hpp"
#include "model/time_text.hpp"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Instant moment_of(const std::string& text) {
  const auto moment = parse_moment(text);
  return Instant{moment.value().at};
}

std::string next(const std::string& every, const std::string& after,
                 const std::string& zone = "UTC") {
  const auto found = next_recurrence(every, zone, moment_of(after));
  return found ? utc_text(*found).substr(0, 16) : "never";
}

TEST(Recurrence, IsTheNextMinuteThatAllFieldsAllow) {
  const std::array<std::array<const char*, 3>, 18> cases = {
      {{"0 3 * * *", "2026-11-29T02:59:59Z", "2026-11-29 03:00"},
       {"0 3 * * *", "2026-11-29T03:00:00Z", "2026-11-30 03:00"},
       {"*/15 * * * *", "2026-11-29T23:50:00Z", "2026-11-30 00:00"},
       {"5/20 * * * *", "2026-11-29T10:30:00Z", "2026-11-29 10:45"},
       {"30 8-18/5 * * mon-fri", "2026-11-27T18:31:00Z", "2026-11-30 08:30"},
       {"30 8-18/5 * * MON-FRI", "2026-11-30T08:30:00Z", "2026-11-30 13:30"},
       {"0 0 31 * *", "2026-11-01T00:00:00Z", "2026-12-31 00:00"},
       {"0 0 29 2 *", "2026-11-29T00:00:00Z", "2028-02-29 00:00"},
       {"0 0 1,15 jan,jul *", "2026-07-16T00:00:00Z", "2027-01-01 00:00"},
       {"0 12 13 * fri", "2026-11-29T00:00:00Z", "2026-12-04 12:00"},
       {"0 12 */2 * fri", "2026-11-29T00:00:00Z", "2026-12-11 12:00"},
       {"0 12 * * 7", "2026-11-29T12:00:00Z", "2026-12-06 12:00"},
       {"0\t12 * * sat-sun", "2026-11-29T12:00:00Z", "2026-12-05 12:00"},
       {"@annually", "2026-11-29T12:00:00Z", "2027-01-01 00:00"},
       {"@daily", "2026-12-31T00:00:00Z", "2027-01-01 00:00"},
       {"@monthly", "2026-12-31T00:00:00Z", "2027-01-01 00:00"},
       {"@hourly", "2026-12-31T23:00:01Z", "2027-01-01 00:00"},
       {"59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31 23:59"}}};
  for (const auto& [every, after, wanted] : cases) {
    EXPECT_EQ(recurrence_fault(every), "") << every;
    EXPECT_EQ(next(every, after), wanted) << every;
  }
}

TEST(Recurrence, KeepsTheTimeOfTheDayThroughSummerTime) {
  EXPECT_EQ(next("0 3 * * *", "2026-03-28T12:00:00Z", "Europe/Berlin"), "2026-03-29 01:00");
  EXPECT_EQ(next("0 3 * * *", "2026-10-24T12:00:00Z", "Europe/Berlin"), "2026-10-25 02:00");
  EXPECT_EQ(next("0 3 * * *", "2026-07-01T12:00:00Z", "America/New_York"), "2026-07-02 07:00");
}

TEST(Recurrence, OfATimeThatTheClocksPassOverIsTheMomentAtWhichTheyAreSet) {
  // From 02:00 they show 03:00.
  EXPECT_EQ(next("30 2 * * *", "2026-03-29T00:00:00Z", "Europe/Berlin"), "2026-03-29 01:00");
  EXPECT_EQ(next("30 2 * * *", "2026-03-29T01:00:00Z", "Europe/Berlin"), "2026-03-30 00:30");
}

TEST(Recurrence, OfATimeThatTheClocksShowTwiceCountsOnce) {
  EXPECT_EQ(next("30 2 * * *", "2026-10-25T00:00:00Z", "Europe/Berlin"), "2026-10-25 00:30");
  EXPECT_EQ(next("30 2 * * *", "2026-10-25T00:30:00Z", "Europe/Berlin"), "2026-10-26 01:30");
  EXPECT_EQ(next("45 2 * * *", "2026-10-25T01:10:00Z", "Europe/Berlin"), "2026-10-26 01:45");
}

TEST(Recurrence, OfEachHourCountsRealHours) {
  EXPECT_EQ(next("30 * * * *", "2026-10-25T00:30:00Z", "Europe/Berlin"), "2026-10-25 01:30");
  EXPECT_EQ(next("30 * * * *", "2026-10-25T01:30:00Z", "Europe/Berlin"), "2026-10-25 02:30");
  EXPECT_EQ(next("30 * * * *", "2026-03-29T00:30:00Z", "Europe/Berlin"), "2026-03-29 01:30");
}

TEST(Recurrence, NeverComesAtAPastOrAnEqualTime) {
  // Through the days of both changes, by minutes.
  for (const char* every : {"*/7 * * * *", "30 2 * * *", "0,30 1-3 * * *"}) {
    for (const char* day : {"2026-03-28T22:00:00Z", "2026-10-24T22:00:00Z"}) {
      for (int i = 0; i < 500; ++i) {
        const Instant from = moment_of(day) + i * std::chrono::minutes{3};
        const auto found = next_recurrence(every, "Europe/Berlin", from);
        ASSERT_TRUE(found);
        ASSERT_GT(*found, from) << every << " after " << utc_text(from);
      }
    }
  }
}

TEST(Recurrence, SaysTheFieldThatIsWrong) {
  EXPECT_THAT(recurrence_fault("60 * * * *"), HasSubstr("minute"));
  EXPECT_THAT(recurrence_fault("* 24 * * *"), HasSubstr("hour"));
  EXPECT_THAT(recurrence_fault("* * 0 * *"), HasSubstr("of the month"));
  EXPECT_THAT(recurrence_fault("* * * 13 *"), HasSubstr("month"));
  EXPECT_THAT(recurrence_fault("* * * * 8"), HasSubstr("of the week"));
  EXPECT_THAT(recurrence_fault("0 0 30 2 *"), HasSubstr("never"));
  for (const char* each : {"", "daily", "* * * *", "* * * * * *", "5-1 * * * *", "*/0 * * * *",
                           "1,,2 * * * *", "- * * * *", "-5 * * * *", "1-2-3 * * * *",
                           "*/5/5 * * * *", "99999999999999999999 * * * *", "\n* * * * *"}) {
    EXPECT_NE(recurrence_fault(each), "") << each;
    EXPECT_FALSE(next_recurrence(each, "", moment_of("2026-11-29T00:00:00Z"))) << each;
  }
}

TEST(Recurrence, HasOneSpelling) {
  EXPECT_EQ(plain_recurrence("@Daily"), "0 0 * * *");
  EXPECT_EQ(plain_recurrence("  0  3 * * MON "), "0 3 * * mon");
}

TEST(Recurrence, KnowsTheZonesOfTheSystemAlone) {
  EXPECT_TRUE(is_time_zone("Europe/Berlin"));
  EXPECT_TRUE(is_time_zone(""));
  EXPECT_FALSE(is_time_zone("localtime")) << "each computer has another one of that name";
  EXPECT_FALSE(is_time_zone("posixrules"));
  EXPECT_TRUE(is_time_zone(local_time_zone().value_or("none")));
  for (const char* each : {"Europe/Atlantis", "/etc/passwd", "../../etc/passwd", "Europe/../UTC"}) {
    EXPECT_FALSE(is_time_zone(each)) << each;
  }
  EXPECT_EQ(next("0 3 * * *", "2026-11-29T00:00:00Z", "Europe/Atlantis"), "never");
}

}  // namespace
}  // namespace muster

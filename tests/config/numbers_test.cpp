#include "config/numbers.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;

using namespace std::chrono_literals;

TEST(ParseNumber, TakesFiniteNumbersOnly) {
  EXPECT_EQ(parse_number("12.5"), 12.5);
  EXPECT_EQ(parse_number("-1e3"), -1000.0);
  for (const char* bad : {"", "nan", "inf", "-inf", "1e999", "12x", " 1", "0x10", "1,5", "--1"}) {
    EXPECT_EQ(parse_number(bad), std::nullopt) << bad;
  }
}

TEST(ParseWhole, TakesUnsignedWholeNumbersThatFit) {
  EXPECT_EQ(parse_whole("18446744073709551615"), 18446744073709551615U);
  for (const char* bad : {"", "-1", "1.0", "18446744073709551616", "7 "}) {
    EXPECT_EQ(parse_whole(bad), std::nullopt) << bad;
  }
}

TEST(NumberRange, ChecksBordersAndWholeness) {
  EXPECT_TRUE((NumberRange{.low = 0, .high = 1}.contains(0)));
  EXPECT_TRUE((NumberRange{.low = 0, .high = 1}.contains(1)));
  EXPECT_FALSE((NumberRange{.low = 0, .high = 1}.contains(1.001)));
  EXPECT_FALSE((NumberRange{.low = 0, .high = 1, .above_low = true}.contains(0)));
  EXPECT_FALSE((NumberRange{.low = 0, .high = 9, .whole = true}.contains(2.5)));
  EXPECT_FALSE(NumberRange{}.contains(std::nan("")));
  EXPECT_FALSE(NumberRange{}.contains(-1));
}

TEST(NumberRange, SaysWhatWouldBeRight) {
  EXPECT_EQ(describe({.low = 0, .high = 1, .above_low = true}), "a number above 0 and at most 1");
  EXPECT_THAT(describe({.low = 1, .high = 8, .whole = true}), IsGolden());
}

TEST(ParseDuration, UnderstandsSecondsAndUnits) {
  EXPECT_EQ(parse_duration("300"), 300s);
  EXPECT_EQ(parse_duration("0.25"), 250ms);
  EXPECT_EQ(parse_duration("5min"), 5min);
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("2h"), 2h);
  EXPECT_EQ(parse_duration("1ms"), 1ms);
  EXPECT_EQ(parse_duration("7us"), 7us);
  EXPECT_EQ(parse_duration("9ns"), 9ns);
  EXPECT_EQ(parse_duration("1.5 h"), 90min);
  EXPECT_EQ(parse_duration("1d"), 24h);
  EXPECT_EQ(parse_duration("1e3s"), 1000s);
  EXPECT_EQ(parse_duration("-2s"), -2s);
}

TEST(ParseDuration, RejectsEverythingElse) {
  for (const char* bad : {"", "s", "min", "5 fortnights", "5M", "1h30min", "nan", "inf", "1e300",
                          "293000d", "1..2s", ".", "5s ", "- 5s"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
}

TEST(ParseDuration, ReadsWhatClocksShow) {
  EXPECT_EQ(parse_duration("10:00"), 10min);
  EXPECT_EQ(parse_duration("90:30"), 90min + 30s);
  EXPECT_EQ(parse_duration("1:30:05"), 1h + 30min + 5s);
  EXPECT_EQ(parse_duration("100:00:00"), 100h);
  EXPECT_EQ(parse_duration("1-00:00:00"), 24h);
  EXPECT_EQ(parse_duration("2-12:00"), 60h);
  EXPECT_EQ(parse_duration("2-12"), 60h);
  EXPECT_EQ(parse_duration("0-0:0:7"), 7s);
  for (const char* bad :
       {"10:", ":10", "10:60", "1:00:60", "1:60:00", "1:2:3:4", "1-24", "1-", "-1-2", "1-2-3",
        "1:005", "-1:00", "1:-1", "10:00s", "1d-10", "999999999-00:00:00", ":", "-", "1:00:00.5"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
}

TEST(ParseDuration, IsExactWhereADoubleWouldNotBe) {
  EXPECT_EQ(parse_duration("123456789.123456789"), Duration{123456789123456789});
}

TEST(DurationText, TakesTheLargestUnitThatFits) {
  EXPECT_EQ(duration_text(300s), "5min");
  EXPECT_EQ(duration_text(90s), "90s");
  EXPECT_EQ(duration_text(2ms), "2ms");
  EXPECT_EQ(duration_text(0s), "0s");
}

RC_GTEST_PROP(Numbers, DurationsSurviveBeingWrittenDown, (std::int64_t ns)) {
  const Duration duration{ns / 2};
  RC_ASSERT(parse_duration(seconds_text(duration)) == duration);
  RC_ASSERT(parse_duration(duration_text(duration)) == duration);
}

RC_GTEST_PROP(Numbers, FiniteNumbersSurviveBeingWrittenDown, (std::uint64_t bits)) {
  const auto number = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(number));
  RC_ASSERT(parse_number(number_text(number)) == number);
}

TEST(ParseNumber, TakesASignAndNumbersTooSmallForTheType) {
  EXPECT_EQ(parse_number("+5"), 5.0);
  EXPECT_EQ(parse_number("1e-999"), 0.0);
  EXPECT_EQ(parse_number("-1E-999"), 0.0);
  for (const char* bad : {"+", "+-5", "++5", "1e", "1e-", "-1e999"}) {
    EXPECT_EQ(parse_number(bad), std::nullopt) << bad;
  }
}

TEST(NumberRange, WholeNumbersEndWithTheirBounds) {
  const NumberRange whole{.low = 1, .high = 8, .whole = true};
  EXPECT_FALSE(whole.contains(0));
  EXPECT_TRUE(whole.contains(1));
  EXPECT_TRUE(whole.contains(8));
  EXPECT_FALSE(whole.contains(9));
  EXPECT_FALSE(whole.contains(HUGE_VAL));
}

TEST(ParseBytes, UnderstandsUnitsInAnyCase) {
  EXPECT_EQ(parse_bytes("100B", 1), 100);
  EXPECT_EQ(parse_bytes("1K", 1), 1024);
  EXPECT_EQ(parse_bytes("1kb", 1), 1024);
  EXPECT_EQ(parse_bytes("1Ki", 1), 1024);
  EXPECT_EQ(parse_bytes("1KIB", 1), 1024);
  EXPECT_EQ(parse_bytes("512 MiB", 1), 512.0 * 1024 * 1024);
  EXPECT_EQ(parse_bytes("1.5g", 1), 1.5 * 1024 * 1024 * 1024);
  EXPECT_EQ(parse_bytes("2T", 1), 2 * std::pow(1024.0, 4));
  EXPECT_EQ(parse_bytes("1PB", 1), std::pow(1024.0, 5));
}

TEST(ParseBytes, TakesANumberAloneForOneOfItsOwnUnit) {
  EXPECT_EQ(parse_bytes("3", 1024), 3072);
  EXPECT_EQ(parse_bytes("1e3", 2), 2000) << "an exponent is no unit";
}

TEST(ParseBytes, RejectsEverythingElse) {
  for (const char* bad : {"", "G", "4X", "4GiBs", "4Kx", "4bi", "4 ", "G4", "4G ", "four"}) {
    EXPECT_EQ(parse_bytes(bad, 1), std::nullopt) << bad;
  }
}

TEST(ParseInUnits, IsExactInTheUnitThatABareNumberHas) {
  EXPECT_EQ(parse_in_units("5", 1s), 5s);
  EXPECT_EQ(parse_in_units("+5", 1ms), 5ms);
  EXPECT_EQ(parse_in_units("1.5", 60s), 90s);
  EXPECT_EQ(parse_in_units("-2", 1h), -2h);
  EXPECT_EQ(parse_in_units("0.1", 24h), 144min);
  EXPECT_EQ(parse_in_units("5s", 1s), std::nullopt) << "a unit of its own";
  EXPECT_EQ(parse_in_units("5", 7s), std::nullopt) << "this is no unit";
}

TEST(SecondsText, IsADecimalNumberWithoutNeedlessDigits) {
  EXPECT_EQ(seconds_text(5s), "5");
  EXPECT_EQ(seconds_text(1500ms), "1.5");
  EXPECT_EQ(seconds_text(1ns), "0.000000001");
  EXPECT_EQ(seconds_text(-1500ms), "-1.5");
  EXPECT_EQ(seconds_text(-500ms), "-0.5");
}

TEST(DurationText, NamesEachUnit) {
  EXPECT_EQ(duration_text(48h), "2d");
  EXPECT_EQ(duration_text(3h), "3h");
  EXPECT_EQ(duration_text(1500ms), "1500ms");
  EXPECT_EQ(duration_text(7us), "7us");
  EXPECT_EQ(duration_text(9ns), "9ns");
  EXPECT_EQ(duration_text(-90s), "-90s");
}

TEST(GeoPoint, IsLatitudeAndLongitudeOnTheEarth) {
  const auto place = parse_geo_point("52.5,-13.4");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->latitude_deg, 52.5);
  EXPECT_EQ(place->longitude_deg, -13.4);
  EXPECT_TRUE(parse_geo_point("-90,180"));
  EXPECT_TRUE(parse_geo_point("90,-180"));
  for (const char* bad : {"", "52.5", "52.5,", ",13", "90.1,0", "-90.1,0", "0,180.1", "0,-180.1",
                          "a,b", "1,2,3", "1;2"}) {
    EXPECT_FALSE(parse_geo_point(bad)) << bad;
  }
}

}  // namespace
}  // namespace muster

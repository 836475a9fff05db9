#include "config/time_text.hpp"

#include <gtest/gtest.h>

#include "config/numbers.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

/// 2026-11-01T00:00:00Z.
constexpr Duration kNovember = std::chrono::seconds{1'793'491'200};

std::optional<Duration> date(std::string_view text) {
  const auto moment = parse_moment(text);
  if (!moment || !moment->calendar) return std::nullopt;
  return moment->at;
}

std::optional<Duration> number(std::string_view text, Duration unit = 1s) {
  const auto moment = parse_moment(text, unit);
  if (!moment || moment->calendar) return std::nullopt;
  return moment->at;
}

TEST(Moment, IsADateWithOrWithoutTimeOfDayFractionAndOffset) {
  EXPECT_EQ(date("2026-11-01"), kNovember);
  EXPECT_EQ(date("2026-11-01T00:00:00Z"), kNovember);
  EXPECT_EQ(date("2026-11-01 00:00"), kNovember);
  EXPECT_EQ(date(" 2026-11-01T01:30:00.250Z "), kNovember + 90min + 250ms);
  EXPECT_EQ(date("2026-11-01T00:00:00,5+00:00"), kNovember + 500ms);
  EXPECT_EQ(date("2026-11-01T02:00:00+02:00"), kNovember);
  EXPECT_EQ(date("2026-10-31T18:30:00-0530"), kNovember);
  EXPECT_EQ(date("2026/11/01 00:00:01 UTC"), kNovember + 1s);
}

TEST(Moment, IsANumberOfTheUnitOrAUnixTimeInSmallerOnes) {
  EXPECT_EQ(number("0"), 0s);
  EXPECT_EQ(number("-5"), -5s);
  EXPECT_EQ(number("1.5e2"), 150s);
  EXPECT_EQ(number("+0.1"), 100ms);
  EXPECT_EQ(number("1793491200"), kNovember);
  EXPECT_EQ(number("1793491200000"), kNovember);
  EXPECT_EQ(number("1793491200000000"), kNovember);
  EXPECT_EQ(number("1793491200000001", 1us), kNovember + 1us);
}

TEST(Moment, IsNothingElse) {
  for (const char* text :
       {"", "now", "2026-02-30", "2026-11-01T24:00:00Z", "2026-11-01T00:60:00Z", "2026-11-01T",
        "2026-11-01T00:00:00+25:00", "2026-11-01T00:00:00.Z", "26-11-01", "2026-11/01", "nan",
        "inf", "1e999", "1e10", "0x10", "9999-01-01", "2026-11-01T00:00:00Zx"}) {
    EXPECT_FALSE(parse_moment(text)) << text;
  }
}

TEST(Amounts, HaveSignsAndExponentsAndAreFinite) {
  EXPECT_EQ(parse_number("+5"), 5);
  EXPECT_EQ(parse_number("1e-999"), 0);
  EXPECT_EQ(parse_number("-2.5E3"), -2500);
  for (const char* text : {"+-5", "+", "nan", "-inf", "1e999", "1,5", "5 ", "0x1"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

}  // namespace
}  // namespace muster

#include "replay/metrics/labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace muster::metrics {
namespace {
using muster::test::IsGolden;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Labels, an_instant_is_days_since_the_start_and_a_time_of_day) {
  EXPECT_EQ(clock_text(Instant{}), "day 0 00:00:00");
  EXPECT_EQ(clock_text(Instant{from_seconds(98'405)}), "day 1 03:20:05");
  EXPECT_EQ(clock_text(Instant{from_seconds(98'405.999)}), "day 1 03:20:05");
  EXPECT_EQ(clock_text(Instant{from_seconds(-1)}), "day -1 23:59:59");
}

TEST(Labels, a_length_of_time_takes_the_unit_that_suits_it) {
  EXPECT_EQ(length_text(from_seconds(7.5)), "7.5 s");
  EXPECT_EQ(length_text(from_seconds(725)), "12 min 5 s");
  EXPECT_EQ(length_text(from_seconds(11'700)), "3.25 h");
}

TEST(Labels, money_has_its_sign_before_the_dollar) {
  EXPECT_EQ(usd_text(12.345), "$12.35");
  EXPECT_EQ(usd_text(-0.5), "-$0.50");
  EXPECT_EQ(usd_text(-0.001), "$0.00");
}

TEST(Labels, a_refusal_says_kind_gate_and_numbers) {
  EXPECT_THAT(describe(Refusal{}), IsGolden());
  EXPECT_THAT(
      describe(Refusal{RefusalKind::never, RefusalCode::fits_no_type, Resource::gpu, 16, 8}),
      AllOf(HasSubstr("(gpu: asked 16, available 8)"), IsGolden()));
  EXPECT_THAT(describe(Refusal{RefusalKind::not_now, RefusalCode::spend_cap, {}, 13.5, 12}),
              AllOf(HasSubstr("(asked 13.5, available 12)"), IsGolden()));
}

TEST(Labels, a_cause_says_its_gain) {
  EXPECT_EQ(describe(Cause{CauseCode::packed, 1.25}), "packed, gain $1.25/h");
}

}  // namespace
}  // namespace muster::metrics

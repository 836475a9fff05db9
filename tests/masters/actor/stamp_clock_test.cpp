#include "masters/actor/stamp_clock.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;

TEST(StampClock, ShowsWhatTheClockShows) {
  const StampClock clock(at_s(100), at_s(90));
  EXPECT_EQ(clock.stamp(at_s(100)), at_s(100));
  EXPECT_EQ(clock.stamp(at_s(250)), at_s(250));
}

TEST(StampClock, GoesOnFromTheNewestStampWhereTheClockWasSetBack) {
  const StampClock clock(at_s(100), at_s(110));
  EXPECT_EQ(clock.stamp(at_s(100)), at_s(110));
  EXPECT_EQ(clock.stamp(at_s(200)), at_s(209)) << "a hundredth of the time is caught up";
  EXPECT_EQ(clock.stamp(at_s(1100)), at_s(1100));
  EXPECT_EQ(clock.stamp(at_s(1200)), at_s(1200));
}

}  // namespace
}  // namespace muster

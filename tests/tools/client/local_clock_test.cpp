#include "tools/client/local_clock.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "model/time_text.hpp"
#include "tests/support/zone_clock.hpp"

namespace muster::client {
namespace {

using std::chrono::local_seconds;

/// The zone of this computer is another one meanwhile.
class LocalClock : public ::testing::TestWithParam<const char*> {
 protected:
  LocalClock() { set(GetParam()); }
  ~LocalClock() override { set(nullptr); }

  static void set(const char* zone) {
    zone == nullptr ? unsetenv("TZ") : setenv("TZ", zone, 1);
    tzset();
  }
};

TEST_P(LocalClock, AgreesWithTheZonesOfTheSystemThroughAYear) {
  const config::LocalClock other = test::zone_clock(GetParam());
  const local_seconds begin{std::chrono::local_days{std::chrono::year{2026} / 1 / 1}};
  for (int i = 0; i < 365 * 48; ++i) {
    const local_seconds shown = begin + i * std::chrono::minutes{30};
    const Instant moment = local_clock().moment(shown);
    ASSERT_EQ(moment, other.moment(shown)) << utc_text(Instant{shown.time_since_epoch()});
    ASSERT_EQ(local_clock().shown(moment), other.shown(moment)) << utc_text(moment);
  }
}

INSTANTIATE_TEST_SUITE_P(Zones, LocalClock,
                         ::testing::Values("Europe/Berlin", "Europe/Dublin", "America/New_York",
                                           "Australia/Lord_Howe", "Asia/Kolkata", "UTC"));

}  // namespace
}  // namespace muster::client

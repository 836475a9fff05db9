#include "tools/client/local_clock.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

// The clocks of the user's computer, as the C library knows them: it is loaded anyway.

namespace muster::client {
namespace {

using std::chrono::local_seconds;

local_seconds shown_at(std::time_t at) {
  std::tm parts{};
  localtime_r(&at, &parts);
  return local_seconds{std::chrono::seconds{timegm(&parts)}};
}

/// With the offset of summer time, or that of winter; nothing: the clocks do not show it so.
std::optional<std::time_t> moment_by(local_seconds shown, int summer) {
  const auto count = static_cast<std::time_t>(shown.time_since_epoch().count());
  std::tm parts{};
  gmtime_r(&count, &parts);
  parts.tm_isdst = summer;
  const std::time_t at = mktime(&parts);
  return shown_at(at) == shown ? std::optional(at) : std::nullopt;
}

/// The clocks pass over the time: the moment at which they are put forward.
std::time_t leap_over(local_seconds shown) {
  constexpr std::time_t kDay = 24 * 3'600;
  const auto middle = static_cast<std::time_t>(shown.time_since_epoch().count());
  // No clock is off by more than a day.
  std::time_t before = middle - 2 * kDay, behind = middle + 2 * kDay;
  while (behind - before > 1) {
    const std::time_t half = before + (behind - before) / 2;
    (shown_at(half) < shown ? before : behind) = half;
  }
  return behind;
}

Instant moment_of(local_seconds shown) {
  const auto summer = moment_by(shown, 1), winter = moment_by(shown, 0);
  const std::time_t at = summer && winter ? std::min(*summer, *winter)
                         : summer         ? *summer
                         : winter         ? *winter
                                          : leap_over(shown);
  return Instant{std::chrono::seconds{at}};
}

}  // namespace

Instant clock_now() {
  // The one clock of the command: "in two hours" is the user's.
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();  // NOLINT: see above
  return Instant{std::chrono::duration_cast<Duration>(since_1970)};
}

const config::LocalClock& local_clock() {
  static const config::LocalClock kClock{
      [](Instant at) {
        return shown_at(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count());
      },
      moment_of};
  return kClock;
}

}  // namespace muster::client

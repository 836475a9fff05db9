#pragma once

#include <chrono>
#include <cstdint>

namespace muster {

/// Length of time, in whole nanoseconds.
using Duration = std::chrono::duration<std::int64_t, std::nano>;

/// Tag of the cluster's own time line. It has no now(): the time always comes from outside.
struct ClusterClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<ClusterClock, Duration>;
  static constexpr bool is_steady = true;
};

/// A point on the cluster's time line; zero is the start of the cluster.
using Instant = ClusterClock::time_point;

/// The nearest whole nanosecond; `seconds` has to lie within +-292 years.
constexpr Duration from_seconds(double seconds) {
  const double ns = seconds * 1e9;
  return Duration{static_cast<std::int64_t>(ns < 0 ? ns - 0.5 : ns + 0.5)};
}

constexpr double to_seconds(Duration d) {
  return static_cast<double>(d.count()) / 1e9;
}
constexpr double to_seconds(Instant t) {
  return to_seconds(t.time_since_epoch());
}
constexpr double to_hours(Duration d) {
  return to_seconds(d) / 3600.0;
}

/// The last multiple of `step` that is not after `t`; `t` itself when `step` is zero.
constexpr Instant floor_to(Instant t, Duration step) {
  if (step <= Duration::zero()) return t;
  return t - t.time_since_epoch() % step;
}

}  // namespace muster

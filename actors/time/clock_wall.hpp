#pragma once

#include <caf/all.hpp>
#include <chrono>

#include "actors/time/clock.hpp"

namespace muster {

/// The epoch of a live cluster: its time is counted from 1970, by the clock of this machine as it
/// is at the call. Later steps of that clock change nothing.
inline ClockOrigin wall_origin(caf::actor_system& system) {
  const auto since_1970 = std::chrono::duration_cast<caf::actor_clock::duration_type>(
      std::chrono::system_clock::now().time_since_epoch());
  return ClockOrigin{system.clock().now() - since_1970};
}

/// The same clock where no actor system is.
inline Instant wall_now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<Duration>(since_1970)};
}

}  // namespace muster

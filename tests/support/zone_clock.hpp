#pragma once

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include <chrono>
#include <string>

#include "config/time_keys.hpp"

namespace muster::test {

/// The clocks of a zone, which are not those of this computer.
inline config::LocalClock zone_clock(const std::string& name) {
  cctz::time_zone zone;
  cctz::load_time_zone(name, &zone);
  const cctz::civil_second origin(1970, 1, 1);
  return {[zone, origin](Instant at) {
            const cctz::time_point<cctz::seconds> whole{
                std::chrono::floor<cctz::seconds>(at.time_since_epoch())};
            return std::chrono::local_seconds{
                std::chrono::seconds{cctz::convert(whole, zone) - origin}};
          },
          [zone, origin](std::chrono::local_seconds shown) {
            const auto found = zone.lookup(origin + shown.time_since_epoch().count());
            const bool skipped = found.kind == cctz::time_zone::civil_lookup::SKIPPED;
            const auto at = skipped ? found.trans : found.pre;
            return Instant{std::chrono::duration_cast<Duration>(at.time_since_epoch())};
          }};
}

}  // namespace muster::test

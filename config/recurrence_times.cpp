// The times of a recurrence in the zone of its user. Apart, so that a program that asks for no time
// loads no library of zones.

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include "config/recurrence.hpp"
#include "config/recurrence_fields.hpp"

namespace muster {
namespace {

using Seconds = cctz::time_point<cctz::seconds>;

cctz::civil_day civil_of(std::chrono::sys_days day) {
  return cctz::civil_day(1970, 1, 1) + day.time_since_epoch().count();
}

/// The clocks of the zone may pass over the time, or show it twice.
Seconds moment_of(const cctz::time_zone& zone, const cctz::civil_minute& at) {
  const auto found = zone.lookup(cctz::civil_second(at));
  return found.kind == cctz::time_zone::civil_lookup::SKIPPED ? found.trans : found.pre;
}

/// Each real hour of the day counts, also one that the clocks show twice.
std::optional<Seconds> in_real_hours(const RecurrenceFields& every, const cctz::time_zone& zone,
                                     const cctz::civil_day& day, Seconds after) {
  const std::chrono::minutes minute{1};
  const Seconds begin = moment_of(zone, cctz::civil_minute(day));
  const Seconds end = moment_of(zone, cctz::civil_minute(day + 1));
  const Seconds from = begin > after ? begin : begin + (after - begin) / minute * minute;
  for (Seconds at = from; at < end; at += minute) {
    const auto shown = static_cast<unsigned>(cctz::convert(at, zone).minute());
    if (at > after && every.minute.has(shown)) return at;
  }
  return std::nullopt;
}

/// The first minute of the day that is later than `after`.
std::optional<Seconds> in_day(const RecurrenceFields& every, const cctz::time_zone& zone,
                              const cctz::civil_day& day, Seconds after) {
  constexpr std::uint64_t kEachHour = (std::uint64_t{1} << 24) - 1;
  if (every.hour.any && every.hour.bits == kEachHour) {
    return in_real_hours(every, zone, day, after);
  }
  for (unsigned hour = 0; hour < 24; ++hour) {
    if (!every.hour.has(hour)) continue;
    for (unsigned minute = 0; minute < 60; ++minute) {
      if (!every.minute.has(minute)) continue;
      const cctz::civil_minute at(day.year(), day.month(), day.day(), hour, minute);
      const Seconds moment = moment_of(zone, at);
      if (moment > after) return moment;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Instant> next_recurrence(std::string_view every, const std::string& zone,
                                       Instant after) {
  std::string fault;
  const auto read = parse_recurrence(every, fault);
  cctz::time_zone in = cctz::utc_time_zone();
  // Later ones could not be told as instants.
  constexpr Instant kLatest{std::chrono::hours{24 * 365 * 230}};
  if (!read || after > kLatest || !is_time_zone(zone)) return std::nullopt;
  if (!zone.empty() && !cctz::load_time_zone(zone, &in)) return std::nullopt;
  const Seconds from{std::chrono::floor<cctz::seconds>(after.time_since_epoch())};
  // From the day before on: the clocks may show an earlier day once more.
  const cctz::civil_day today(cctz::convert(from, in));
  const std::chrono::days since{today - cctz::civil_day(1970, 1, 1)};
  auto day = next_day(*read, std::chrono::sys_days{since} - std::chrono::days{1});
  for (; day; day = next_day(*read, *day + std::chrono::days{1})) {
    const auto found = in_day(*read, in, civil_of(*day), from);
    if (found) return Instant{std::chrono::duration_cast<Duration>(found->time_since_epoch())};
  }
  return std::nullopt;
}

}  // namespace muster

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/time.hpp"

namespace muster {

/// Forms that parse_duration() takes, for messages about something else.
inline constexpr std::string_view kDurationForms =
    "a number of seconds, or a text with a unit (ms, s, m or min, h, d) like \"5min\", or "
    "[DAYS-]HOURS:MINUTES:SECONDS or MINUTES:SECONDS like \"1-00:00:00\" or \"10:00\"";

/// A length of time: a number of seconds; one with a unit: ns, us, ms, s, m or min, h or d; or as
/// clocks have it: "10:00" is ten minutes, "1:30:00" an hour and a half, "2-12", "2-12:00" and
/// "2-12:00:00" two days and a half. Exact for decimal numbers; nothing when it is not a length of
/// time or beyond +-292 years.
std::optional<Duration> parse_duration(std::string_view text);

/// "2026-12-01 08:00:00 UTC": a time of a live cluster, which counts from 1970.
std::string utc_text(Instant at);

}  // namespace muster

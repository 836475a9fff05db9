#pragma once

#include <optional>
#include <string_view>

#include "model/time.hpp"

namespace muster {

/// A point in time as a file states it.
struct Moment {
  Duration at{};          ///< since 1970 UTC, or since whatever the file counts from
  bool calendar = false;  ///< a date: it counts from 1970
};

/// Form that parse_moment() takes, for error messages.
inline constexpr std::string_view kWantedMoment =
    "a time: seconds, or a date such as 2016-02-25T11:58:59Z";

/// The one reader of points in time of files. A date of ISO 8601, with `T` or a blank before the
/// time of day, with or without seconds, a fraction (dropped below a nanosecond) and an offset;
/// without one it is UTC. Or a number of `unit`, which may have a sign, a fraction and an exponent.
/// Numbers of seconds that lie beyond the year 5000 are Unix times in ms, us or ns. Nothing when it
/// is neither, when there is no such day, or beyond +-292 years.
std::optional<Moment> parse_moment(std::string_view text, Duration unit = std::chrono::seconds{1});

}  // namespace muster

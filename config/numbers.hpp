#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/geo.hpp"
#include "model/time.hpp"
#include "model/time_text.hpp"

namespace muster {

/// Which numbers an input may have. All of them are finite.
struct NumberRange {
  double low = 0;
  double high = 1e15;
  bool above_low = false;  ///< `low` itself is not allowed
  bool whole = false;

  bool contains(double number) const;
};

/// The right form, for error messages: "a number from 0 to 8".
std::string describe(const NumberRange& range);

/// The one reader of amounts of files: the number that the whole text is, with a sign, a fraction
/// or an exponent, if it is a finite one.
std::optional<double> parse_number(std::string_view text);

/// The whole number that the whole text is, if it is one and fits.
std::optional<std::uint64_t> parse_whole(std::string_view text);

/// The shortest text that parse_number() turns into the same number again.
std::string number_text(double number);

/// A place, as "LATITUDE,LONGITUDE" in degrees; nothing when it is not one on the earth.
std::optional<GeoPoint> parse_geo_point(std::string_view text);

/// Forms that parse_bytes() takes besides a number, for messages about something else.
inline constexpr std::string_view kBytesForms =
    "a text with a unit like \"4G\" or \"512MiB\" (K, M, G and T, with or without B or iB, are "
    "powers of 1024)";

/// Bytes from "4G", "4 GB", "1.5GiB", "512m", "64K", "2T" or "100B": K, M, G, T and P in any case,
/// with or without B or iB, are powers of 1024. A number without a unit is one of `bare` bytes.
/// Nothing when it is no such amount.
std::optional<double> parse_bytes(std::string_view text, double bare);

/// A bare number of `unit`, which is one of those that parse_duration() knows; exact for decimal
/// numbers.
std::optional<Duration> parse_in_units(std::string_view text, Duration unit);

/// The seconds as a decimal number that parse_duration() turns into the same duration again.
std::string seconds_text(Duration duration);

/// The duration in the largest unit that gives a whole number: "5min", "90s".
std::string duration_text(Duration duration);

}  // namespace muster

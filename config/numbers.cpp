#include "config/numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

// Numbers and durations as people write them. Conversions do not go by the locale, and what is
// written out reads back as the same value.

namespace muster {
namespace {

__extension__ using Wide = __int128;

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
// From large to small, as duration_text() tries them.
constexpr std::array<Unit, 7> kUnits = {{{"d", 86'400'000'000'000},
                                         {"h", 3'600'000'000'000},
                                         {"min", 60'000'000'000},
                                         {"s", 1'000'000'000},
                                         {"ms", 1'000'000},
                                         {"us", 1'000},
                                         {"ns", 1}}};
constexpr std::int64_t kSecond = 1'000'000'000;

// With so many digits, times the largest unit, a Wide does not overflow.
constexpr std::size_t kExactDigits = 23;

/// `text` x `unit_ns` without rounding on the way; nothing when it is no plain decimal number.
/// Decimal numbers of seconds have to be exact in ns: "0.1" is 100,000,000 ns and not one less.
std::optional<Wide> exact_product(std::string_view text, std::int64_t unit_ns) {
  Wide digits = 0;
  Wide scale = 1;
  std::size_t count = 0;
  bool fraction = false;
  for (const char c : text) {
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9' || ++count > kExactDigits) return std::nullopt;
    digits = digits * 10 + (c - '0');
    if (fraction) scale *= 10;
  }
  if (count == 0) return std::nullopt;
  // Rounded to the nearest: half the divisor is added before the division.
  return (digits * unit_ns * 2 + scale) / (scale * 2);
}

std::optional<Duration> in_units(std::string_view text, std::int64_t unit_ns) {
  const std::optional<double> number = parse_number(text);
  if (!number) return std::nullopt;
  // Just below 2^63 ns, 292 years.
  constexpr double kLimit = 9.2e18;
  if (std::abs(*number) * static_cast<double>(unit_ns) > kLimit) return std::nullopt;
  const bool negative = text.front() == '-';
  const auto exact = exact_product(negative ? text.substr(1) : text, unit_ns);
  // Exponents and very long numbers go by floating point.
  if (!exact) return from_seconds(*number * (static_cast<double>(unit_ns) / 1e9));
  const auto ns = static_cast<std::int64_t>(*exact);
  return Duration{negative ? -ns : ns};
}

}  // namespace

bool NumberRange::contains(double number) const {
  if (!std::isfinite(number) || number > high) return false;
  if (above_low ? number <= low : number < low) return false;
  return !whole || std::floor(number) == number;
}

std::string describe(const NumberRange& range) {
  const std::string_view kind = range.whole ? "a whole number" : "a number";
  const std::string_view from = range.above_low ? "above" : "from";
  const std::string_view to = range.above_low ? "and at most" : "to";
  return fmt::format("{} {} {} {} {}", kind, from, range.low, to, range.high);
}

std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string number_text(double number) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), result.ptr};
}

std::optional<Duration> parse_duration(std::string_view text) {
  const std::size_t letters = text.find_last_not_of("abcdefghijklmnopqrstuvwxyz");
  if (letters == std::string_view::npos) return std::nullopt;
  const std::string_view unit_name = text.substr(letters + 1);
  const std::size_t number_end = text.find_last_not_of(' ', letters);
  const std::string_view number = text.substr(0, number_end + 1);
  // A bare number is in seconds.
  if (unit_name.empty()) return in_units(text, kSecond);
  for (const Unit& unit : kUnits) {
    if (unit.name == unit_name) return in_units(number, unit.ns);
  }
  return std::nullopt;
}

std::string seconds_text(Duration duration) {
  const std::int64_t ns = duration.count();
  std::string text = fmt::format("{}{}", ns < 0 ? "-" : "", std::abs(ns / kSecond));
  if (ns % kSecond == 0) return text;
  text += fmt::format(".{:09}", std::abs(ns % kSecond));
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::string duration_text(Duration duration) {
  const std::int64_t ns = duration.count();
  if (ns == 0) return "0s";
  for (const Unit& unit : kUnits) {
    if (ns % unit.ns == 0) return fmt::format("{}{}", ns / unit.ns, unit.name);
  }
  return seconds_text(duration);
}

std::optional<GeoPoint> parse_geo_point(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto latitude = parse_number(text.substr(0, comma));
  const auto longitude = parse_number(text.substr(comma + 1));
  if (!latitude || !longitude) return std::nullopt;
  if (*latitude < -90 || *latitude > 90 || *longitude < -180 || *longitude > 180) {
    return std::nullopt;
  }
  return GeoPoint{*latitude, *longitude};
}

}  // namespace muster

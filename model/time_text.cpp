#include "model/time_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <ctime>

// The one reader of lengths of time that people write: in files, flags, requests and parameters of
// policies. It goes by no locale.

namespace muster {
namespace {

__extension__ using Wide = __int128;

struct TimeUnit {
  std::string_view name;
  std::int64_t ns;
};
constexpr std::array<TimeUnit, 8> kTimeUnits = {{{"d", 86'400'000'000'000},
                                                 {"h", 3'600'000'000'000},
                                                 {"min", 60'000'000'000},
                                                 {"m", 60'000'000'000},
                                                 {"s", 1'000'000'000},
                                                 {"ms", 1'000'000},
                                                 {"us", 1'000},
                                                 {"ns", 1}}};
constexpr std::int64_t kSecond = 1'000'000'000;

// With this number of digits, times the largest unit, a Wide does not overflow.
constexpr std::size_t kExactDigits = 23;

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

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
  const std::optional<double> number = number_in(text);
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

/// A whole number in digits alone, at most `most`.
std::optional<std::int64_t> digits_in(std::string_view text, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return text.front() != '-' && number <= most ? std::optional(number) : std::nullopt;
}

/// A part that stands behind a larger one: one or two digits.
std::optional<std::int64_t> minor_part(std::string_view text, std::int64_t most) {
  return text.size() <= 2 ? digits_in(text, most) : std::nullopt;
}

/// [DAYS-]HOURS[:MINUTES[:SECONDS]], where without days there is a colon at least, and one alone
/// stands between minutes and seconds.
std::optional<Duration> as_clock(std::string_view text) {
  constexpr std::int64_t kMostDays = 106'000;  // within 292 years
  constexpr std::int64_t kMostSixties = 59;
  const std::size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  std::array<std::string_view, 3> parts;
  std::size_t count = 0;
  std::string_view rest = has_days ? text.substr(dash + 1) : text;
  while (true) {
    if (count == parts.size()) return std::nullopt;
    const std::size_t colon = rest.find(':');
    parts[count++] = rest.substr(0, colon);
    if (colon == std::string_view::npos) break;
    rest = rest.substr(colon + 1);
  }
  if (!has_days && count == 1) return std::nullopt;
  const auto days = has_days ? digits_in(text.substr(0, dash), kMostDays) : std::optional(0L);
  const auto first = has_days ? minor_part(parts[0], 23) : digits_in(parts[0], kMostDays * 24);
  if (!days || !first) return std::nullopt;
  // Days are followed by hours; without them the last part is that of seconds.
  std::int64_t unit_s = has_days || count == 3 ? 3600 : 60;
  std::int64_t seconds = *days * 86'400 + *first * unit_s;
  for (std::size_t i = 1; i < count; ++i) {
    const auto part = minor_part(parts[i], kMostSixties);
    if (!part) return std::nullopt;
    unit_s /= 60;
    seconds += *part * unit_s;
  }
  return std::chrono::seconds{seconds};
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  // "-5" and "1e-3" are numbers; a dash between digits alone stands behind days.
  const bool is_clock = text.find_first_not_of("0123456789:-") == std::string_view::npos &&
                        text.find_first_of(":-", 1) != std::string_view::npos;
  if (is_clock) return as_clock(text);
  const std::size_t letters = text.find_last_not_of("abcdefghijklmnopqrstuvwxyz");
  if (letters == std::string_view::npos) return std::nullopt;
  const std::string_view unit_name = text.substr(letters + 1);
  const std::size_t number_end = text.find_last_not_of(' ', letters);
  const std::string_view number = text.substr(0, number_end + 1);
  // A bare number is in seconds.
  if (unit_name.empty()) return in_units(text, kSecond);
  for (const TimeUnit& unit : kTimeUnits) {
    if (unit.name == unit_name) return in_units(number, unit.ns);
  }
  return std::nullopt;
}

std::string utc_text(Instant at) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch());
  const auto seconds = static_cast<std::time_t>(whole.count());
  std::tm parts{};
  std::array<char, 32> text{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "an unknown time";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

}  // namespace muster

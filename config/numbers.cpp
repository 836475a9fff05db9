#include "config/numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

// Numbers and amounts as people write them. Conversions do not go by the locale, and what is
// written out reads back as the same value.

namespace muster {
namespace {

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

/// The letters of a unit of bytes, in any case: "", "b", "k", "kb", "ki", "kib" and so on. Nothing
/// when the text is not one.
std::optional<double> bytes_of_unit(std::string_view unit, double bare) {
  constexpr std::string_view kPrefixes = "kmgtp";
  std::string letters(unit);
  for (char& c : letters) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (letters.empty()) return bare;
  if (letters == "b") return 1;
  const std::size_t prefix = kPrefixes.find(letters.front());
  if (prefix == std::string_view::npos) return std::nullopt;
  const std::string_view rest = std::string_view(letters).substr(1);
  if (!rest.empty() && rest != "b" && rest != "i" && rest != "ib") return std::nullopt;
  return std::pow(1024.0, static_cast<double>(prefix) + 1);
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
  // The library takes no plus sign.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size()) return std::nullopt;
  // Too small for the type is nothing; too large is an error.
  const std::size_t exponent = text.find_first_of("eE");
  const bool tiny = exponent != std::string_view::npos && text.substr(exponent).size() > 1 &&
                    text[exponent + 1] == '-';
  if (error == std::errc::result_out_of_range && tiny) return 0;
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
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

std::optional<double> parse_bytes(std::string_view text, double bare) {
  // Letters at the end alone: "1e3" is a number.
  std::size_t end = text.size();
  while (end > 0 && ((text[end - 1] | 0x20) >= 'a' && (text[end - 1] | 0x20) <= 'z')) --end;
  const std::optional<double> unit = bytes_of_unit(text.substr(end), bare);
  std::string_view digits = text.substr(0, end);
  if (end < text.size()) digits = digits.substr(0, digits.find_last_not_of(' ') + 1);
  const std::optional<double> number = parse_number(digits);
  return number && unit ? std::optional(*number * *unit) : std::nullopt;
}

std::optional<Duration> parse_in_units(std::string_view text, Duration unit) {
  if (!parse_number(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  for (const Unit& known : kUnits) {
    if (known.ns == unit.count()) return parse_duration(fmt::format("{}{}", text, known.name));
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

#include "schedulers/param_kinds.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "model/time_text.hpp"

namespace muster::params {
namespace {

/// Length up to which whole ranges are listed.
constexpr std::uint32_t kFew = 3;

std::optional<double> parse_number(const std::string& text, const Range& range) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !range.contains(value)) return std::nullopt;
  return value;
}

Kind<bool> flag_that_means(bool given) {
  Kind<bool> kind{"true or false"};
  kind.parse = [given](const std::string& text) -> std::optional<bool> {
    if (text == "true") return given;
    if (text == "false") return !given;
    return std::nullopt;
  };
  kind.print = [given](bool value) { return std::string(value == given ? "true" : "false"); };
  return kind;
}

/// A text like 5min or 10:00; a number alone is in the parameter's own unit and was looked at.
std::optional<Duration> with_unit(const std::string& text, const Range& range, double units_in_s) {
  if (text.find_first_not_of("+-.0123456789e") == std::string::npos) return std::nullopt;
  const auto length = parse_duration(text);
  if (!length || !range.contains(to_seconds(*length) * units_in_s)) return std::nullopt;
  return length;
}

Kind<Duration> duration(const Range& range, double units_in_s) {
  Kind<Duration> kind{"a number " + range.text() + ", or with a unit: ms, s, min, h, d"};
  kind.parse = [range, units_in_s](const std::string& text) -> std::optional<Duration> {
    const auto value = parse_number(text, range);
    if (!value) return with_unit(text, range, units_in_s);
    // Longer than any run: beyond it a number of nanoseconds would overflow.
    constexpr double kLongest_s = 1e9;
    const double seconds = *value / units_in_s;
    const Duration length = from_seconds(std::clamp(seconds, -kLongest_s, kLongest_s));
    // A length that rounds to zero is out of range: 0 has its own meaning, or no meaning.
    if (*value > 0 && length == Duration::zero()) return std::nullopt;
    return length;
  };
  kind.print = [units_in_s](Duration value) {
    // Divides nanoseconds as a double: defaults like 0.5 ms are printed as they are written.
    return number_text(static_cast<double>(value.count()) / (1e9 / units_in_s));
  };
  return kind;
}

}  // namespace

bool Range::contains(double value) const {
  const bool enough = has_low ? value >= low : value > low;
  const bool few_enough = has_high ? value <= high : value < high;
  return enough && few_enough;
}

std::string Range::text() const {
  std::string text;
  if (std::isfinite(low)) text = (has_low ? ">= " : "> ") + number_text(low);
  if (!std::isfinite(high)) return text;
  return text + (text.empty() ? "" : " and ") + (has_high ? "<= " : "< ") + number_text(high);
}

std::string number_text(double value) {
  // Larger numbers read better with an exponent.
  constexpr double kLongest = 1e9;
  if (value == std::floor(value) && std::abs(value) < kLongest) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), end);
  // to_chars writes two digits of exponent at least; config files are written with 1e9.
  for (const char* padding : {"e+0", "e+"}) {
    const std::size_t at = text.find(padding);
    if (at != std::string::npos) return text.replace(at, std::string(padding).size(), "e");
  }
  return text;
}

std::string any_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

Kind<bool> flag() {
  return flag_that_means(true);
}

Kind<bool> negated_flag() {
  return flag_that_means(false);
}

Kind<double> number(const Range& range) {
  Kind<double> kind{"a number " + range.text()};
  kind.parse = [range](const std::string& text) { return parse_number(text, range); };
  kind.print = [](double value) { return number_text(value); };
  return kind;
}

Kind<std::uint32_t> whole(std::uint32_t low, std::uint32_t high) {
  Kind<std::uint32_t> kind{"a whole number from " + std::to_string(low) + " to " +
                           std::to_string(high)};
  if (high - low < kFew) {
    std::vector<std::string> all;
    for (std::uint32_t i = low; i <= high; ++i) all.push_back(std::to_string(i));
    kind.range = any_of(all);
  }
  const Range range = from(low).up_to(high);
  kind.parse = [range](const std::string& text) -> std::optional<std::uint32_t> {
    const auto value = parse_number(text, range);
    // A whole number may be written 1e3.
    if (!value || *value != std::floor(*value)) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
  };
  kind.print = [](std::uint32_t value) { return std::to_string(value); };
  return kind;
}

Kind<Duration> in_seconds(const Range& range) {
  return duration(range, 1);
}

Kind<Duration> in_milliseconds(const Range& range) {
  return duration(range, 1e3);
}

Kind<std::filesystem::path> path() {
  Kind<std::filesystem::path> kind{"the path of a file, or nothing"};
  kind.parse = [](const std::string& text) { return std::optional<std::filesystem::path>(text); };
  kind.print = [](const std::filesystem::path& value) { return value.string(); };
  return kind;
}

Kind<std::vector<std::string>> list() {
  using Texts = std::vector<std::string>;
  Kind<Texts> kind{"texts joined by +, each not empty, or nothing"};
  kind.parse = [](const std::string& text) -> std::optional<Texts> {
    Texts all;
    if (text.empty()) return all;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('+', at), text.size());
      all.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    if (std::find(all.begin(), all.end(), "") != all.end()) return std::nullopt;
    return all;
  };
  kind.print = [](const Texts& all) {
    std::string text;
    for (const std::string& one : all) text += (text.empty() ? "" : "+") + one;
    return text;
  };
  return kind;
}

}  // namespace muster::params

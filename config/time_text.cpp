#include "config/time_text.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include "config/numbers.hpp"

// Points in time as clusters, clouds and traces write them down. Nothing goes by the locale or by
// the zone of the machine.

namespace muster {
namespace {

using namespace std::chrono_literals;

constexpr int kLeastYear = 1900;
constexpr int kMostYear = 2200;
/// Just below 2^63 ns.
constexpr double kMostSeconds = 9.2e9;

/// Takes characters off the beginning of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool take(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    taken_ = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }
  char taken() const { return taken_; }
  /// The number that exactly `count` digits are.
  std::optional<int> digits(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    int number = 0;
    for (const char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return std::nullopt;
      number = number * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return number;
  }
  /// A fraction of a second: at least one digit.
  std::optional<Duration> fraction() {
    std::int64_t ns = 0;
    std::int64_t scale = 100'000'000;
    std::size_t count = 0;
    for (; count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9'; ++count) {
      ns += (rest_[count] - '0') * scale;
      scale /= 10;
    }
    rest_.remove_prefix(count);
    if (count == 0) return std::nullopt;
    return Duration{ns};
  }
  bool take_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

 private:
  std::string_view rest_;
  char taken_ = 0;
};

std::optional<Duration> scan_day(Scanner& text) {
  const auto year = text.digits(4);
  if (!year || !text.take("-/")) return std::nullopt;
  const char dash = text.taken();
  const auto month = text.digits(2);
  if (!month || !text.take({&dash, 1})) return std::nullopt;
  const auto day = text.digits(2);
  if (!day || *year < kLeastYear || *year > kMostYear) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date}.time_since_epoch();
}

std::optional<Duration> scan_time_of_day(Scanner& text) {
  const auto hour = text.digits(2);
  if (!hour || !text.take(":")) return std::nullopt;
  const auto minute = text.digits(2);
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  Duration time = *hour * 1h + *minute * 1min;
  if (text.take(":")) {
    const auto second = text.digits(2);
    // 60: a leap second, which is the first one of the next minute.
    if (!second || *second > 60) return std::nullopt;
    time += *second * 1s;
    if (text.take(".,")) {
      const auto part = text.fraction();
      if (!part) return std::nullopt;
      time += *part;
    }
  }
  return time;
}

/// How far the clock is ahead of UTC; UTC where nothing is said.
std::optional<Duration> scan_offset(Scanner& text) {
  if (text.done()) return Duration::zero();
  text.take(" ");
  if (text.take("Zz") || text.take_word("UTC") || text.take_word("GMT")) return Duration::zero();
  if (!text.take("+-")) return std::nullopt;
  const bool behind = text.taken() == '-';
  const auto hours = text.digits(2);
  if (!hours || *hours > 18) return std::nullopt;
  int minutes = 0;
  if (!text.done()) {
    text.take(":");
    const auto said = text.digits(2);
    if (!said || *said > 59) return std::nullopt;
    minutes = *said;
  }
  const Duration offset = *hours * 1h + minutes * 1min;
  return behind ? -offset : offset;
}

std::optional<Moment> parse_date(std::string_view whole) {
  Scanner text(whole);
  const auto day = scan_day(text);
  if (!day) return std::nullopt;
  if (text.done()) return Moment{*day, true};
  if (!text.take("Tt ")) return std::nullopt;
  const auto time = scan_time_of_day(text);
  if (!time) return std::nullopt;
  const auto offset = scan_offset(text);
  if (!offset || !text.done()) return std::nullopt;
  return Moment{*day + *time - *offset, true};
}

/// Unit of a number of seconds that would be thousands of years.
Duration unit_of(double number) {
  constexpr std::array<std::pair<double, Duration>, 3> kSmaller = {
      {{1e17, 1ns}, {1e14, 1us}, {1e11, 1ms}}};
  for (const auto& [from, unit] : kSmaller) {
    if (std::abs(number) >= from) return unit;
  }
  return 1s;
}

}  // namespace

std::optional<Moment> parse_moment(std::string_view text, Duration unit) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text.remove_suffix(text.size() - std::min(text.find_last_not_of(kBlanks) + 1, text.size()));
  const auto number = parse_number(text);
  if (!number) return parse_date(text);
  if (unit == 1s) unit = unit_of(*number);
  if (std::abs(*number) * to_seconds(unit) > kMostSeconds) return std::nullopt;
  const auto exact = parse_in_units(text, unit);
  if (!exact) return std::nullopt;
  return Moment{*exact, false};
}

}  // namespace muster

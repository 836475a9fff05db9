#include "config/recurrence.hpp"

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "config/numbers.hpp"

namespace muster {
namespace {

constexpr int kYears = 30;
/// Of the days of the week, which are 0 to 6.
constexpr int kSundayToo = 7;
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kShorthands = {
    {{"@hourly", "0 * * * *"},
     {"@daily", "0 0 * * *"},
     {"@midnight", "0 0 * * *"},
     {"@weekly", "0 0 * * 0"},
     {"@monthly", "0 0 1 * *"},
     {"@yearly", "0 0 1 1 *"},
     {"@annually", "0 0 1 1 *"}}};

/// One of the five, with its bounds and the names of its numbers.
struct Field {
  std::string_view noun;
  int low;
  int high;
  std::array<std::string_view, 12> names{};  ///< of `low`, `low` + 1, ...
};
constexpr std::array<Field, 5> kFields = {
    {{"minute", 0, 59},
     {"hour", 0, 23},
     {"day of the month", 1, 31},
     {"month",
      1,
      12,
      {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
     {"day of the week", 0, 7, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}}};

/// Numbers that one field allows, as bits.
struct Allowed {
  std::uint64_t bits = 0;
  bool any = false;  ///< it began with `*`

  bool has(int number) const { return (bits >> number & 1) != 0; }
};
using Recurrence = std::array<Allowed, 5>;
constexpr std::size_t kMinute = 0, kHour = 1, kDay = 2, kMonth = 3, kWeekday = 4;

std::string lowered(std::string_view text) {
  std::string low(text);
  std::ranges::transform(low, low.begin(), [](char c) {
    if (c == '\t') return ' ';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return low;
}

std::optional<int> number_of(const Field& field, std::string_view text) {
  const auto named = std::ranges::find(field.names, std::string_view(lowered(text)));
  if (named != field.names.end() && !named->empty()) {
    return field.low + static_cast<int>(named - field.names.begin());
  }
  const auto number = parse_whole(text);
  if (!number || *number > static_cast<std::uint64_t>(field.high)) return std::nullopt;
  const int value = static_cast<int>(*number);
  return value < field.low ? std::nullopt : std::optional(value);
}

std::vector<std::string_view> pieces_of(std::string_view text, char between) {
  std::vector<std::string_view> pieces;
  for (bool more = true; more;) {
    const std::size_t end = text.find(between);
    more = end != std::string_view::npos;
    pieces.push_back(text.substr(0, end));
    if (more) text.remove_prefix(end + 1);
  }
  return pieces;
}

/// Adds "8-18/2" and the like; false: the text is no range.
bool add_range(const Field& field, std::string_view text, Allowed& allowed) {
  const std::vector<std::string_view> halves = pieces_of(text, '/');
  if (halves.size() > 2) return false;
  int step = 1;
  if (halves.size() == 2) {
    const auto read = parse_whole(halves[1]);
    if (!read || *read == 0 || *read > static_cast<std::uint64_t>(field.high)) return false;
    step = static_cast<int>(*read);
  }
  int from = field.low, to = field.high;
  if (halves[0] == "*") {
    allowed.any = true;
  } else {
    const std::vector<std::string_view> ends = pieces_of(halves[0], '-');
    if (ends.size() > 2) return false;
    const auto first = number_of(field, ends[0]);
    auto last = number_of(field, ends.back());
    // Sunday ends a week, too.
    if (ends.size() == 2 && last == 0 && field.high == kSundayToo) last = kSundayToo;
    if (!first || !last || *last < *first) return false;
    from = *first;
    // "5/10" goes on to the end, as in cron.
    if (ends.size() == 2 || halves.size() == 1) to = *last;
  }
  for (int each = from; each <= to; each += step) allowed.bits |= std::uint64_t{1} << each;
  return true;
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view each : pieces_of(text, ' ')) {
    if (!each.empty()) words.push_back(each);
  }
  return words;
}

/// Nothing, and the fault, when the text is no recurrence.
std::optional<Recurrence> parse_recurrence(std::string_view every, std::string& fault) {
  const std::string plain = plain_recurrence(every);
  const std::vector<std::string_view> words = words_in(plain);
  if (words.size() != kFields.size()) {
    fault = fmt::format("has to be {}", kRecurrenceForm);
    return std::nullopt;
  }
  Recurrence read;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    for (const std::string_view each : pieces_of(words[i], ',')) {
      if (add_range(kFields[i], each, read[i])) continue;
      fault = fmt::format(
          "has \"{:.40}\" as its {}, which has to be numbers from {} to {}, like "
          "5, 1-5, 1,3 or */2",
          words[i], kFields[i].noun, kFields[i].low, kFields[i].high,
          kFields[i].names[0].empty() ? "" : ", or names like mon or jan");
      return std::nullopt;
    }
  }
  // Sunday is 0 and 7.
  if (read[kWeekday].has(7)) read[kWeekday].bits |= 1;
  return read;
}

bool is_day(const Recurrence& every, const cctz::civil_day& day) {
  const int weekday = (static_cast<int>(cctz::get_weekday(day)) + 1) % 7;
  const bool by_day = every[kDay].has(day.day());
  const bool by_weekday = every[kWeekday].has(weekday);
  const bool both = every[kDay].any || every[kWeekday].any;
  return both ? by_day && by_weekday : by_day || by_weekday;
}

/// The first day from that one on; nothing within kYears.
std::optional<cctz::civil_day> next_day(const Recurrence& every, cctz::civil_day day) {
  const cctz::civil_day last = day + cctz::diff_t{kYears} * 366;
  while (day < last) {
    if (!every[kMonth].has(day.month())) {
      day = cctz::civil_day(cctz::civil_month(day) + 1);
    } else if (!is_day(every, day)) {
      ++day;
    } else {
      return day;
    }
  }
  return std::nullopt;
}

using Seconds = cctz::time_point<cctz::seconds>;

/// The clocks of the zone may pass over the time, or show it twice.
Seconds moment_of(const cctz::time_zone& zone, const cctz::civil_minute& at) {
  const auto found = zone.lookup(cctz::civil_second(at));
  return found.kind == cctz::time_zone::civil_lookup::SKIPPED ? found.trans : found.pre;
}

/// The first minute of the day that is later than `after`.
std::optional<Seconds> in_day(const Recurrence& every, const cctz::time_zone& zone,
                              const cctz::civil_day& day, Seconds after) {
  if (every[kHour].any && every[kHour].has(0) && every[kHour].has(1)) {
    // Each real hour, also one that the clocks show twice.
    const Seconds end = moment_of(zone, cctz::civil_minute(day + 1));
    const Seconds begin = moment_of(zone, cctz::civil_minute(day));
    const std::chrono::minutes minute{1};
    const Seconds from = begin > after ? begin : begin + (after - begin) / minute * minute;
    for (Seconds at = from; at < end; at += minute) {
      if (at > after && every[kMinute].has(cctz::convert(at, zone).minute())) return at;
    }
    return std::nullopt;
  }
  for (int hour = 0; hour < 24; ++hour) {
    if (!every[kHour].has(hour)) continue;
    for (int minute = 0; minute < 60; ++minute) {
      if (!every[kMinute].has(minute)) continue;
      const cctz::civil_minute at(day.year(), day.month(), day.day(), hour, minute);
      const Seconds moment = moment_of(zone, at);
      if (moment > after) return moment;
    }
  }
  return std::nullopt;
}

bool load(const std::string& name, cctz::time_zone& zone) {
  // Known without the files of the system, too.
  if (name.empty() || name == "UTC") return true;
  // Names are looked up as files, and the library knows other forms: no name is a way to another
  // file, or to a pipe.
  const bool is_name =
      name.size() <= 64 && name.front() != '/' && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '+' || c == '-' || c == '/';
      });
  std::error_code fault;
  return is_name && std::filesystem::is_regular_file("/usr/share/zoneinfo/" + name, fault) &&
         cctz::load_time_zone(name, &zone);
}

}  // namespace

std::string plain_recurrence(std::string_view every) {
  const std::string low = lowered(every);
  const auto words = words_in(low);
  if (words.size() == 1) {
    for (const auto& [word, fields] : kShorthands) {
      if (words[0] == word) return std::string(fields);
    }
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string recurrence_fault(std::string_view every) {
  std::string fault;
  const auto read = parse_recurrence(every, fault);
  if (!read) return fault;
  if (next_day(*read, cctz::civil_day(2000, 1, 1))) return {};
  return "is a day that never comes";
}

bool is_time_zone(const std::string& zone) {
  cctz::time_zone found;
  return load(zone, found);
}

std::optional<std::string> local_time_zone() {
  const char* variable = std::getenv("TZ");
  std::string_view named = variable == nullptr ? "" : variable;
  if (named.starts_with(':')) named.remove_prefix(1);
  cctz::time_zone found;
  if (!named.empty()) {
    std::string name(named);
    return load(name, found) ? std::optional(std::move(name)) : std::nullopt;
  }
  std::error_code fault;
  const auto file = std::filesystem::canonical("/etc/localtime", fault);
  constexpr std::string_view kFolder = "/zoneinfo/";
  const std::size_t at = file.native().rfind(kFolder);
  if (fault || at == std::string::npos) return "UTC";
  std::string name = file.native().substr(at + kFolder.size());
  return load(name, found) ? name : "UTC";
}

std::optional<Instant> next_recurrence(std::string_view every, const std::string& zone,
                                       Instant after) {
  std::string fault;
  const auto read = parse_recurrence(every, fault);
  cctz::time_zone in = cctz::utc_time_zone();
  // Later ones could not be told as instants.
  constexpr Instant kLatest{std::chrono::hours{24 * 365 * 230}};
  if (!read || after > kLatest || !load(zone, in)) return std::nullopt;
  const Seconds from{std::chrono::floor<cctz::seconds>(after.time_since_epoch())};
  // From the day before on: the clocks may show an earlier day once more.
  std::optional day = next_day(*read, cctz::civil_day(cctz::convert(from, in)) - 1);
  for (; day; day = next_day(*read, *day + 1)) {
    const auto found = in_day(*read, in, *day, from);
    if (found) return Instant{std::chrono::duration_cast<Duration>(found->time_since_epoch())};
  }
  return std::nullopt;
}

}  // namespace muster

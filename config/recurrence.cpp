#include "config/recurrence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "config/notify_address.hpp"
#include "config/numbers.hpp"
#include "config/recurrence_fields.hpp"
#include "config/text_pieces.hpp"

namespace muster {
namespace {

using config::pieces_of;

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

std::optional<int> number_of(const Field& field, std::string_view text) {
  const auto named = std::ranges::find(field.names, text);
  if (named != field.names.end() && !named->empty()) {
    return field.low + static_cast<int>(named - field.names.begin());
  }
  const auto number = parse_whole(text);
  if (!number || *number > static_cast<std::uint64_t>(field.high)) return std::nullopt;
  const int value = static_cast<int>(*number);
  return value < field.low ? std::nullopt : std::optional(value);
}

/// Adds "8-18/2" and the like; false: the text is no range.
bool add_range(const Field& field, std::string_view text, AllowedNumbers& allowed) {
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

/// Files of zones begin with this (RFC 8536).
bool is_zone_file(const std::filesystem::path& file) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(file, fault)) return false;
  std::ifstream in(file, std::ios::binary);
  std::array<char, 4> mark{};
  return in.read(mark.data(), mark.size()) && std::string_view(mark.data(), 4) == "TZif";
}

}  // namespace

bool RecurrenceFields::has(const std::chrono::year_month_day& date) const {
  const std::chrono::weekday on{std::chrono::sys_days(date)};
  const bool by_day = day.has(unsigned{date.day()});
  const bool by_weekday = weekday.has(on.c_encoding());
  const bool by_both = day.any || weekday.any;
  return by_both ? by_day && by_weekday : by_day || by_weekday;
}

std::optional<RecurrenceFields> parse_recurrence(std::string_view every, std::string& fault) {
  const std::string plain = plain_recurrence(every);
  const std::vector<std::string_view> words = words_in(plain);
  if (words.size() != kFields.size()) {
    fault = fmt::format("has to be {}", kRecurrenceForm);
    return std::nullopt;
  }
  RecurrenceFields read;
  const std::array<AllowedNumbers*, kFields.size()> all{&read.minute, &read.hour, &read.day,
                                                        &read.month, &read.weekday};
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    for (const std::string_view each : pieces_of(words[i], ',')) {
      if (add_range(kFields[i], each, *all[i])) continue;
      fault = fmt::format(
          "has \"{:.40}\" as its {}, which has to be numbers from {} to {}, like 5, 1-5, 1,3 or "
          "*/2{}",
          words[i], kFields[i].noun, kFields[i].low, kFields[i].high,
          kFields[i].names[0].empty() ? "" : ", or names like mon or jan");
      return std::nullopt;
    }
  }
  // Sunday is 0 and 7.
  if (read.weekday.has(kSundayToo)) read.weekday.bits |= 1;
  return read;
}

std::optional<std::chrono::sys_days> next_day(const RecurrenceFields& every,
                                              std::chrono::sys_days day) {
  using namespace std::chrono;
  const sys_days last = day + days{366 * kYears};
  while (day < last) {
    const year_month_day date{day};
    if (!every.month.has(unsigned{date.month()})) {
      day = sys_days{date.year() / date.month() / 1} + days{31};
      const year_month_day next{day};
      day = sys_days{next.year() / next.month() / 1};
    } else if (!every.has(date)) {
      day += days{1};
    } else {
      return day;
    }
  }
  return std::nullopt;
}

std::string plain_recurrence(std::string_view every) {
  std::string low = config::in_small_letters(every);
  // As in a file of cron.
  std::ranges::replace(low, '\t', ' ');
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
  const std::chrono::sys_days any_day{std::chrono::year{2000} / 1 / 1};
  return next_day(*read, any_day) ? "" : "is a day that never comes";
}

bool is_time_zone(const std::string& zone) {
  // Known without the files of the system, too.
  if (zone.empty() || zone == "UTC") return true;
  // Of these files the computer says what they are: on another one they are other zones.
  if (zone == "localtime" || zone == "posixrules") return false;
  // Names are looked up as files: no name is a way to another folder.
  const bool is_name =
      zone.size() <= 64 && zone.front() != '/' && std::ranges::all_of(zone, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '+' || c == '-' || c == '/';
      });
  return is_name && is_zone_file("/usr/share/zoneinfo/" + zone);
}

std::optional<std::string> local_time_zone() {
  const char* variable = std::getenv("TZ");
  std::string_view named = variable == nullptr ? "" : variable;
  if (named.starts_with(':')) named.remove_prefix(1);
  if (!named.empty()) {
    std::string name(named);
    return is_time_zone(name) ? std::optional(std::move(name)) : std::nullopt;
  }
  std::error_code fault;
  const auto file = std::filesystem::canonical("/etc/localtime", fault);
  constexpr std::string_view kFolder = "/zoneinfo/";
  const std::size_t at = file.native().rfind(kFolder);
  if (fault || at == std::string::npos) return "UTC";
  std::string name = file.native().substr(at + kFolder.size());
  return is_time_zone(name) ? name : "UTC";
}

}  // namespace muster

#include "tools/market/weekly_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "config/csv.hpp"
#include "model/check.hpp"

namespace muster::market {
namespace {

constexpr std::array<CsvColumn, 10> kStatsColumns = {{{"week_end_utc", true},
                                                      {"instance_type", true},
                                                      {"region", true},
                                                      {"availability_zone", true},
                                                      {"min_usd", true},
                                                      {"max_usd", true},
                                                      {"mean_usd", true},
                                                      {"variance", true},
                                                      {"ticks_at_or_over_ondemand", true},
                                                      {"ticks", true}}};
constexpr NumberRange kStatsPrices{.low = 0, .high = 1e5, .above_low = true};
constexpr NumberRange kVariances{.low = 0, .high = 1e10};
/// A tick a second is more than any market has.
constexpr NumberRange kTicks{.low = 1, .high = 604'800, .whole = true};
constexpr NumberRange kOver{.low = 0, .high = 604'800, .whole = true};
/// Most distance of a mean from its range, as it is rounded.
constexpr double kRounded = 1e-4;

WeekStats read_week(CsvReader& reader) {
  WeekStats week;
  const auto end = parse_day(reader.text("week_end_utc"));
  if (!end) {
    reader.complain("week_end_utc", fmt::format("has to be a day such as 2017-06-24; it is '{}'",
                                                reader.text("week_end_utc")));
  }
  week.end = end.value_or(0);
  week.min_usd = reader.number("min_usd", kStatsPrices);
  week.max_usd = reader.number("max_usd", kStatsPrices);
  week.mean_usd = reader.number("mean_usd", kStatsPrices);
  week.variance = reader.number("variance", kVariances);
  week.ticks = static_cast<std::uint32_t>(reader.number("ticks", kTicks));
  week.over = static_cast<std::uint32_t>(reader.number("ticks_at_or_over_ondemand", kOver));
  if (week.max_usd < week.min_usd) reader.complain("max_usd", "is below min_usd");
  if (week.mean_usd < week.min_usd - kRounded || week.mean_usd > week.max_usd + kRounded) {
    reader.complain("mean_usd", "does not lie between min_usd and max_usd");
  }
  if (week.over > week.ticks) {
    reader.complain("ticks_at_or_over_ondemand", "are more than there are ticks");
  }
  return week;
}

}  // namespace

Expected<WeeklyStats, ConfigError> read_weekly_stats(const std::filesystem::path& file,
                                                     const StatsFilter& filter) {
  auto stream = CsvStream::open(file);
  if (!stream) return Failure<ConfigError>{stream.error().code, stream.error().message};
  ErrorList errors;
  CsvReader reader(stream.value(), kStatsColumns, errors);
  WeeklyStats stats;
  std::map<std::pair<SeriesKey, Seconds>, std::uint32_t> lines;
  while (errors.empty()) {
    const auto row = stream->next();
    if (!row) return Failure<ConfigError>{row.error().code, row.error().message};
    if (row.value() == nullptr || !reader.select(*row.value())) break;
    const std::string& type = reader.needed_text("instance_type");
    const std::string& zone = reader.needed_text("availability_zone");
    if (reader.needed_text("region") != filter.region || zone == "all") continue;
    if (!type.starts_with(filter.family + ".")) continue;
    const SeriesKey key{type, zone_letter(zone)};
    stats[key].push_back(read_week(reader));
    const auto [first, is_new] =
        lines.emplace(std::pair{key, stats[key].back().end}, reader.line());
    if (!is_new) {
      reader.complain("week_end_utc", fmt::format("line {} has this week of {} in {} already",
                                                  first->second, brief(type), brief(zone)));
    }
  }
  if (errors.empty() && stats.empty()) {
    errors.add({file.string()}, "",
               fmt::format("has no rows of {} in {}", filter.family, filter.region));
  }
  if (!errors.empty()) return Failure<ConfigError>{ConfigError::invalid, errors.text()};
  for (auto& [key, weeks] : stats) {
    std::stable_sort(weeks.begin(), weeks.end(),
                     [](const WeekStats& a, const WeekStats& b) { return a.end < b.end; });
  }
  return stats;
}

StatsSpan span_of(const WeeklyStats& stats) {
  MUSTER_CHECK(!stats.empty(), "there is a series at least");
  StatsSpan span{std::numeric_limits<Seconds>::max(), std::numeric_limits<Seconds>::min()};
  for (const auto& [key, weeks] : stats) {
    span.from = std::min(span.from, weeks.front().end - kWeek);
    span.to = std::max(span.to, weeks.back().end);
  }
  return span;
}

const WeekStats& nearest_week(const std::vector<WeekStats>& weeks, Seconds end) {
  MUSTER_CHECK(!weeks.empty(), "there is a week at least");
  return *std::min_element(weeks.begin(), weeks.end(), [&](const auto& a, const auto& b) {
    return std::abs(a.end - end) < std::abs(b.end - end);
  });
}

}  // namespace muster::market

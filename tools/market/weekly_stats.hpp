#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tools/market/series.hpp"

namespace muster::market {

/// Statistics of one series in one week.
struct WeekStats {
  Seconds end = 0;  ///< the week is the seven days before it
  double min_usd = 0;
  double max_usd = 0;
  double mean_usd = 0;     ///< over ticks, not over time
  double variance = 0;     ///< likewise
  std::uint32_t over = 0;  ///< ticks at or over the on-demand price
  std::uint32_t ticks = 0;
};

/// The weeks of each series, by rising ends.
using WeeklyStats = std::map<SeriesKey, std::vector<WeekStats>>;

/// Which rows are wanted.
struct StatsFilter {
  std::string region;
  std::string family;  ///< "m4": the types m4.*
};

/// Reads weekly statistics: week_end_utc, instance_type, region, availability_zone, min_usd,
/// max_usd, mean_usd, variance, ticks_at_or_over_ondemand, ticks; rows of all zones together are
/// left out. Errors name file, line and field.
Expected<WeeklyStats, ConfigError> read_weekly_stats(const std::filesystem::path& file,
                                                     const StatsFilter& filter);

/// Time that the weeks of all series span.
struct StatsSpan {
  Seconds from = 0;
  Seconds to = 0;
};
StatsSpan span_of(const WeeklyStats& stats);

/// The snapshot of the week that ends at `end`, or else the nearest one (of two the earlier).
const WeekStats& nearest_week(const std::vector<WeekStats>& weeks, Seconds end);

}  // namespace muster::market

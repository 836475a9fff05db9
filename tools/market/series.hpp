#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/replay_config.hpp"
#include "model/expected.hpp"

namespace muster::market {

/// Seconds since 1970, UTC.
using Seconds = std::int64_t;
inline constexpr Seconds kDay = 86'400;
inline constexpr Seconds kWeek = 7 * kDay;
/// Prices are counted in millionths of a dollar an hour.
inline constexpr double kMicro = 1e6;
/// Nearly all prices of a bid-driven market are whole numbers of this, 0.0001 dollars an hour.
inline constexpr std::int64_t kQuantum = 100;

/// A price from some time on.
struct Tick {
  Seconds at = 0;
  std::int64_t price = 0;  ///< in millionths of a dollar an hour

  friend bool operator==(const Tick&, const Tick&) = default;
};

/// Key of a series of prices.
struct SeriesKey {
  std::string type;
  std::string zone;  ///< "a" of us-west-2a; empty where zones do not matter

  friend auto operator<=>(const SeriesKey&, const SeriesKey&) = default;
};

/// Step functions by what they are the price of, each by rising times.
using SeriesMap = std::map<SeriesKey, std::vector<Tick>>;

/// The time that 00:00 of a day is, from "2017-06-05".
std::optional<Seconds> parse_day(std::string_view text);
/// The day on which a time lies, as parse_day() reads it.
std::string day_text(Seconds at);
/// The letter of a zone within its region: "a" of "us-west-2a" and of "us-central1-a", "az4" of the
/// zone id "use1-az4". A name without a region stays as it is.
std::string zone_letter(std::string_view zone);

/// The wanted part of a file of ticks; absent members take all.
struct TickFilter {
  std::optional<std::string> type;
  std::optional<std::string> zone;  ///< "a" or "us-west-2a"
};

/// Reads ticks: timestamp_utc, instance_type, availability_zone, usd_per_hour. Rows may stand in
/// any order, and have to be of one region; of those of one time the last one counts. Errors name
/// file, line and field; the first one ends the reading.
Expected<SeriesMap, ConfigError> read_ticks(const std::filesystem::path& file,
                                            const TickFilter& filter = {});

/// The part of each series in [from, to), which begins at `from` with what held then, or at the
/// series' first tick where that is later. A series without ticks before `to` is left out.
SeriesMap cut(const SeriesMap& series, Seconds from, Seconds to);

/// Writes a file that `cloud.prices` reads, with the time `zero` as 0 s.
void write_prices(const SeriesMap& series, Seconds zero, std::ostream& out);

}  // namespace muster::market

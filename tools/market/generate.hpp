#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/catalog.hpp"
#include "tools/market/tick_shape.hpp"
#include "tools/market/weekly_stats.hpp"

namespace muster::market {

/// The wanted market.
struct MarketRequest {
  Seconds from = 0;
  Seconds to = 0;  ///< above `from`
  std::uint64_t seed = 1;
};

/// A week of a series as it was asked for and as it came out.
struct FittedWeek {
  SeriesKey key;
  Seconds end = 0;           ///< of the week that was made
  Seconds snapshot_end = 0;  ///< of the week whose statistics it has
  WeekStats asked;
  WeekStats got;
};

/// A market, and how close its weeks come to what they were to be.
struct GeneratedMarket {
  SeriesMap series;               ///< cut to what was wanted
  std::vector<FittedWeek> weeks;  ///< whole weeks, by series and then by time
};

/// Makes a step function for each series of `stats`: weeks with the statistics of their snapshots
/// (of the nearest one for a week without its own), which end on the weekday of the last snapshot;
/// ticks, spikes and correlations of series after `shape`. The same request gives the same market;
/// each week of a series has its own chance. Every type has to be in the catalog.
Expected<GeneratedMarket, ConfigError> generate(const WeeklyStats& stats, const TickShape& shape,
                                                const Catalog& catalog,
                                                const MarketRequest& request);

/// The statistics of the ticks in [end - kWeek, end).
WeekStats measure_week(const std::vector<Tick>& ticks, Seconds end, double on_demand_usd);

/// Only the series of one zone.
SeriesMap one_zone(const SeriesMap& series, const std::string& zone);
/// A series a type without a zone: at any time the price of the cheapest one.
SeriesMap cheapest_zone(const SeriesMap& series);
/// No price above the on-demand price of its type, which has to be in the catalog.
SeriesMap capped_at_on_demand(const SeriesMap& series, const Catalog& catalog);

}  // namespace muster::market

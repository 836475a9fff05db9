#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/price_series.hpp"
#include "model/catalog.hpp"
#include "tools/market/generate.hpp"

namespace muster::market {

/// Facts of a series over the time that is looked at.
struct SeriesFacts {
  SeriesKey key;
  std::uint64_t ticks = 0;
  double min_usd = 0;
  double max_usd = 0;
  double tick_mean_usd = 0;
  double time_mean_usd = 0;
  double variance = 0;          ///< over ticks
  double over_s = 0;            ///< with a price above on demand
  std::uint64_t crossings = 0;  ///< times that the price rose above on demand: revocations of one
                                ///< instance that is always rented again, at that bid
};

/// Which prices are put in order: those of one zone, of each type that of its cheapest zone, or
/// those of every type in every zone.
enum class OrderOf : std::uint8_t { zone, cheapest_zone, offerings };

/// How often sizes change places when sorted by their cost per vCPU.
struct OrderFacts {
  OrderOf of = OrderOf::zone;
  std::string zone;           ///< of OrderOf::zone
  std::uint64_t changes = 0;  ///< moments after which the order is another
  std::uint64_t first = 0;    ///< of these, those with another cheapest type
  double per_day = 0;
  double first_per_day = 0;
};

/// Facts of a market over some days.
struct MarketFacts {
  double days = 0;
  std::vector<SeriesFacts> series;
  std::vector<OrderFacts> orders;  ///< by zone; of several zones the other two as well
};

/// The spot prices of a file for `cloud.prices`, with times in seconds from its time 0.
SeriesMap spot_series(const PriceSeries& prices);

/// Looks at [from, to), at a series that begins later from its first tick on. Every type has to be
/// in the catalog and to have vCPUs.
MarketFacts describe(const SeriesMap& series, const Catalog& catalog, Seconds from, Seconds to);

/// A line a series, and one for each order of the types.
std::string facts_table(const MarketFacts& facts);
/// A line a series: the wanted statistics of its weeks and those that they came to.
std::string fit_table(const std::vector<FittedWeek>& weeks);

}  // namespace muster::market

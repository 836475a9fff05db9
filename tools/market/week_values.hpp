#pragma once

#include <cstdint>
#include <vector>

#include "tools/market/weekly_stats.hpp"

namespace muster::market {

/// The prices of one week's ticks, in quanta (kQuantum) and without an order in time.
struct WeekValues {
  std::vector<std::int64_t> body;        ///< rising; most of the ticks
  std::vector<std::int64_t> excursions;  ///< out of the body, but below the on-demand price
  std::vector<std::int64_t> spikes;      ///< at or over the on-demand price
};

/// Prices that have the statistics asked for: number, least, greatest and those at or over
/// `on_demand_usd` exactly, mean and variance as closely as whole quanta allow. Of the many that
/// do, those whose body spreads as weeks without spikes do (a standard deviation of 0.8 of the
/// mean's distance from the least): the rest of the spread is of spikes first, then of excursions.
WeekValues week_values(const WeekStats& asked, double on_demand_usd);

}  // namespace muster::market

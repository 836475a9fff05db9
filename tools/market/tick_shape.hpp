#pragma once

#include <cstdint>
#include <vector>

#include "model/catalog.hpp"
#include "tools/market/series.hpp"

namespace muster::market {

/// Statistics of a market's ticks that weekly statistics do not have.
struct TickShape {
  /// Quantiles, evenly spaced, of the time to the next tick over its mean in the series.
  std::vector<double> gaps;
  /// How much longer that time is after ticks at or over the on-demand price than after others.
  double spike_gap = 1;
  /// Ticks in a row at or over the on-demand price, of each time, rising.
  std::vector<std::uint32_t> spikes;
  double carried = 0;       ///< share of a price's variance (of ranks) that outlives the tick
  double memory_ticks = 1;  ///< in which that falls to 1/e
  double memory_s = 1;      ///< likewise, in seconds
  /// Rank correlation of the hourly prices of two sizes in one zone, the mean of all pairs; no
  /// less than 0, and 0 when no zone has two sizes.
  double size_correlation = 0;
};

/// Measures all series, of which one has to have ticks (kFewestTicks) and a type of the catalog.
inline constexpr std::size_t kFewestTicks = 200;
Expected<TickShape, ConfigError> shape_of(const SeriesMap& series, const Catalog& catalog);

/// Spearman's correlation of two lists of one length.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace muster::market

#include "tools/market/tick_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace muster::market {
namespace {

constexpr std::size_t kQuantiles = 1001;
constexpr Seconds kHour = 3600;
/// The far lag at which the memory of prices is measured, in ticks.
constexpr std::size_t kFarLag = 50;
constexpr std::size_t kFewestHours = 24;

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    // Equal values share the middle of their ranks.
    for (std::size_t j = i; j < end; ++j) ranks[order[j]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto count = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double aa = 0;
  double bb = 0;
  double ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

double lagged(const std::vector<double>& ranks, std::size_t lag) {
  const auto split = static_cast<std::ptrdiff_t>(lag);
  return correlation({ranks.begin(), ranks.end() - split}, {ranks.begin() + split, ranks.end()});
}

/// Sums over the series.
struct Sums {
  std::vector<double> gaps;
  double spike_gaps = 0;
  double spike_ticks = 0;
  double other_gaps = 0;
  double other_ticks = 0;
  double near = 0;
  double far = 0;
  double mean_gap = 0;
  double series = 0;
};

void add_series(const std::vector<Tick>& ticks, std::int64_t on_demand, Sums& sums,
                std::vector<std::uint32_t>& spikes) {
  const auto span = static_cast<double>(ticks.back().at - ticks.front().at);
  const double mean_gap = span / static_cast<double>(ticks.size() - 1);
  std::uint32_t run = 0;
  std::vector<double> prices;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    prices.push_back(static_cast<double>(ticks[i].price));
    const bool over = ticks[i].price >= on_demand;
    if (over) ++run;
    if (run > 0 && (!over || i + 1 == ticks.size())) {
      spikes.push_back(run);
      run = 0;
    }
    if (i + 1 == ticks.size()) break;
    const double gap = static_cast<double>(ticks[i + 1].at - ticks[i].at) / mean_gap;
    sums.gaps.push_back(gap);
    (over ? sums.spike_gaps : sums.other_gaps) += gap;
    (over ? sums.spike_ticks : sums.other_ticks) += 1;
  }
  const std::vector<double> ranks = ranks_of(prices);
  sums.near += lagged(ranks, 1);
  sums.far += lagged(ranks, kFarLag);
  sums.mean_gap += mean_gap;
  sums.series += 1;
}

std::vector<double> hourly(const std::vector<Tick>& ticks, Seconds from, Seconds to) {
  std::vector<double> prices;
  std::size_t at = 0;
  for (Seconds hour = from; hour < to; hour += kHour) {
    while (at + 1 < ticks.size() && ticks[at + 1].at <= hour) ++at;
    prices.push_back(static_cast<double>(ticks[at].price));
  }
  return prices;
}

double size_correlation(const SeriesMap& series) {
  double sum = 0;
  double pairs = 0;
  for (auto a = series.begin(); a != series.end(); ++a) {
    for (auto b = std::next(a); b != series.end(); ++b) {
      if (a->first.zone != b->first.zone || a->first.type == b->first.type) continue;
      const Seconds from = std::max(a->second.front().at, b->second.front().at);
      const Seconds to = std::min(a->second.back().at, b->second.back().at);
      const std::vector<double> prices = hourly(a->second, from, to);
      if (prices.size() < kFewestHours) continue;
      sum += rank_correlation(prices, hourly(b->second, from, to));
      pairs += 1;
    }
  }
  return pairs > 0 ? std::clamp(sum / pairs, 0.0, 1.0) : 0;
}

}  // namespace

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  return correlation(ranks_of(a), ranks_of(b));
}

Expected<TickShape, ConfigError> shape_of(const SeriesMap& series, const Catalog& catalog) {
  TickShape shape;
  Sums sums;
  for (const auto& [key, ticks] : series) {
    const auto type = catalog.find(key.type);
    if (!type || ticks.size() < kFewestTicks) continue;
    const double on_demand = catalog[*type].on_demand.usd_h() * kMicro;
    add_series(ticks, std::llround(on_demand), sums, shape.spikes);
  }
  if (sums.series == 0) {
    return Failure<ConfigError>{
        ConfigError::invalid,
        fmt::format("no series of a type of the catalog has {} ticks or more", kFewestTicks)};
  }
  std::sort(sums.gaps.begin(), sums.gaps.end());
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    shape.gaps.push_back(sums.gaps[i * (sums.gaps.size() - 1) / (kQuantiles - 1)]);
  }
  if (sums.spike_gaps > 0 && sums.other_gaps > 0) {
    shape.spike_gap = (sums.spike_gaps / sums.spike_ticks) / (sums.other_gaps / sums.other_ticks);
  }
  std::sort(shape.spikes.begin(), shape.spikes.end());
  if (shape.spikes.empty()) shape.spikes.push_back(1);
  const double near = std::clamp(sums.near / sums.series, 0.02, 0.999);
  const double far = std::clamp(sums.far / sums.series, 0.01, near * 0.999);
  shape.memory_ticks = static_cast<double>(kFarLag - 1) / std::log(near / far);
  shape.carried = std::min(1.0, near * std::exp(1 / shape.memory_ticks));
  shape.memory_s = shape.memory_ticks * sums.mean_gap / sums.series;
  shape.size_correlation = size_correlation(series);
  return shape;
}

}  // namespace muster::market

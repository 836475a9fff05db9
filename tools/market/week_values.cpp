#include "tools/market/week_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "model/check.hpp"

namespace muster::market {
namespace {

/// Quanta in a dollar an hour.
constexpr double kPerUsd = kMicro / static_cast<double>(kQuantum);
/// Of weeks without spikes in us-west-2, summer 2017, the ratio is from 0.7 to 0.85.
constexpr double kBodySpread = 0.8;
/// Excursions are higher the rarer: the cube of a uniform share of the way up.
constexpr double kExcursionPower = 3;
constexpr double kMostSkew = 60;
constexpr int kHalvings = 40;
constexpr std::size_t kFitPoints = 100;

/// The wanted statistics, in quanta, and the tail as far as it is known.
struct Target {
  double count = 0;
  double low = 0;
  double high = 0;       ///< the greatest of all
  double body_high = 0;  ///< the greatest that is no spike
  double on_demand = 0;
  double mean = 0;
  double variance = 0;
};

double nth_share(std::size_t i, std::size_t count) {
  return (static_cast<double>(i) + 0.5) / static_cast<double>(count);
}

/// Spikes from the on-demand price to the greatest; the last is that one. Where all are spikes, the
/// first is the least price of the week.
std::vector<std::int64_t> spikes_of(const Target& t, std::size_t count, double skew) {
  std::vector<std::int64_t> spikes;
  const bool all = static_cast<double>(count) >= t.count;
  const double least = std::max(t.on_demand, t.low);
  for (std::size_t i = 0; i < count; ++i) {
    double share = all && i == 0 ? 0 : std::pow(nth_share(i, count), skew);
    if (i + 1 == count) share = 1;
    spikes.push_back(std::llround(least + (t.high - least) * share));
  }
  return spikes;
}

/// Excursions from the mean up; `pinned`: the first is the greatest price of the week.
std::vector<std::int64_t> excursions_of(const Target& t, std::size_t count, bool pinned) {
  std::vector<std::int64_t> excursions;
  for (std::size_t i = 0; i < count; ++i) {
    const double share =
        pinned && i == 0 ? 1 : std::pow(nth_share(count - 1 - i, count), kExcursionPower);
    excursions.push_back(std::llround(t.mean + (t.body_high - t.mean) * share));
  }
  return excursions;
}

/// Statistics that the body has to have, so that all together is as asked.
struct Body {
  double count = 0;
  double mean = 0;
  double variance = 0;
};

Body rest_of(const Target& t, const std::vector<std::int64_t>& spikes,
             const std::vector<std::int64_t>& excursions) {
  Body body;
  body.count = t.count - static_cast<double>(spikes.size() + excursions.size());
  // Relative to the mean of all, as sums of squares of prices would lose the small variances.
  double sum = 0;
  double squares = t.count * t.variance;
  for (const auto* part : {&spikes, &excursions}) {
    for (const std::int64_t price : *part) {
      const double above = static_cast<double>(price) - t.mean;
      sum -= above;
      squares -= above * above;
    }
  }
  if (body.count <= 0) {
    // Impossible: the tail's lack would be without end, and its excess too.
    body.mean = (sum < 0 ? -1 : 1) * std::numeric_limits<double>::infinity();
    return body;
  }
  const double shift = sum / body.count;
  body.mean = t.mean + shift;
  body.variance = squares / body.count - shift * shift;
  return body;
}

/// The tail takes more than leaves a body that spreads as usual.
bool too_much(const Target& t, const Body& body) {
  // It takes too little: no body is as dear as what is left for it.
  if (body.mean > t.body_high) return false;
  const double spread = kBodySpread * (body.mean - t.low);
  return body.mean <= t.low || body.variance < spread * spread;
}

std::vector<std::int64_t> fit_spikes(const Target& t, std::size_t count) {
  if (count == 0) return {};
  double low = 0;
  double high = kMostSkew;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (too_much(t, rest_of(t, spikes_of(t, count, middle), {})) ? low : high) = middle;
  }
  return spikes_of(t, count, high);
}

std::vector<std::int64_t> fit_excursions(const Target& t, const std::vector<std::int64_t>& spikes) {
  const bool pinned = spikes.empty();
  if (!pinned && t.mean >= t.body_high) return {};  // they would be spikes
  const auto room = static_cast<std::size_t>(t.count) - spikes.size();
  std::size_t least = pinned && room > 1 ? 1 : 0;
  std::size_t most = std::max(least, room / 4);
  while (least < most) {
    const std::size_t middle = (least + most + 1) / 2;
    if (too_much(t, rest_of(t, spikes, excursions_of(t, middle, pinned)))) {
      most = middle - 1;
    } else {
      least = middle;
    }
  }
  return excursions_of(t, least, pinned);
}

/// Quantiles of Kumaraswamy's distribution on [0, 1], which has a mean and a variance to choose
/// and, other than the beta distribution, a closed form.
double quantile(double share, double a, double b) {
  return std::pow(-std::expm1(std::log1p(-share) / b), 1 / a);
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments_of(const std::vector<double>& values) {
  Moments m;
  for (const double value : values) m.mean += value;
  m.mean /= static_cast<double>(values.size());
  for (const double value : values) m.variance += (value - m.mean) * (value - m.mean);
  m.variance /= static_cast<double>(values.size());
  return m;
}

std::vector<double> shape(std::size_t count, double a, double b) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = quantile(nth_share(i, count), a, b);
  return values;
}

/// The `b` with which the distribution has the mean.
double fit_b(double a, double mean) {
  double low = -12;
  double high = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (moments_of(shape(kFitPoints, a, std::exp(middle))).mean > mean ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

/// Shares of the way from the least to the greatest.
std::vector<double> fit_shape(std::size_t count, const Moments& wanted) {
  double low = -3;
  double high = 5;
  for (int i = 0; i < kHalvings / 2; ++i) {
    const double middle = (low + high) / 2;
    const double a = std::exp(middle);
    const Moments got = moments_of(shape(kFitPoints, a, fit_b(a, wanted.mean)));
    (got.variance > wanted.variance ? low : high) = middle;
  }
  const double a = std::exp((low + high) / 2);
  return shape(count, a, fit_b(a, wanted.mean));
}

/// Brings the values to the moments, which they nearly have, without leaving [low, high].
void scale_to(std::vector<double>& values, const Body& wanted, const Target& t) {
  constexpr int kRounds = 12;
  for (int round = 0; round < kRounds; ++round) {
    const Moments got = moments_of(values);
    const double factor =
        got.variance > 0 ? std::sqrt(std::max(wanted.variance, 0.0) / got.variance) : 0;
    for (double& value : values) {
      value = std::clamp(wanted.mean + factor * (value - got.mean), t.low, t.body_high);
    }
  }
}

/// Moves single values by a quantum each, evenly spread, until their sum is `sum`.
void nudge_to(std::vector<std::int64_t>& values, std::int64_t sum, const Target& t) {
  for (const std::int64_t value : values) sum -= value;
  bool moved = true;
  while (sum != 0 && moved) {
    moved = false;
    const std::int64_t step = sum > 0 ? 1 : -1;
    const std::size_t stride =
        std::max<std::size_t>(1, values.size() / static_cast<std::size_t>(std::abs(sum)));
    // The first is the least price of the week, and stays.
    for (std::size_t i = 1; i < values.size() && sum != 0; i += stride) {
      const auto next = static_cast<double>(values[i] + step);
      if (next < t.low || next > t.body_high) continue;
      values[i] += step;
      sum -= step;
      moved = true;
    }
  }
  std::sort(values.begin(), values.end());
}

std::vector<std::int64_t> fit_body(const Target& t, Body body) {
  const auto count = static_cast<std::size_t>(body.count);
  const double range = t.body_high - t.low;
  body.mean = std::clamp(body.mean, t.low, t.body_high);
  // Rounding to whole quanta adds a twelfth by itself.
  body.variance = std::clamp(body.variance - 1.0 / 12, 0.0,
                             0.98 * (body.mean - t.low) * (t.body_high - body.mean));
  std::vector<double> values(count, body.mean);
  if (range > 0 && body.variance > 0 && count > 1) {
    values = fit_shape(count, {(body.mean - t.low) / range, body.variance / (range * range)});
    for (double& value : values) value = t.low + range * value;
    scale_to(values, body, t);
  }
  std::vector<std::int64_t> whole(count);
  for (std::size_t i = 0; i < count; ++i) whole[i] = std::llround(values[i]);
  if (!whole.empty()) whole.front() = std::llround(t.low);
  nudge_to(whole, std::llround(body.mean * body.count), t);
  return whole;
}

}  // namespace

WeekValues week_values(const WeekStats& asked, double on_demand_usd) {
  MUSTER_CHECK(asked.ticks > 0, "a week has ticks");
  Target t;
  t.count = asked.ticks;
  t.low = std::max(1.0, std::round(asked.min_usd * kPerUsd));
  t.high = std::max(t.low, std::round(asked.max_usd * kPerUsd));
  t.on_demand = std::ceil(on_demand_usd * kPerUsd - 1e-6);
  t.mean = std::clamp(asked.mean_usd * kPerUsd, t.low, t.high);
  t.variance = asked.variance * kPerUsd * kPerUsd;
  std::size_t over = 0;
  // The greatest price is itself over or it is not, whatever the number says; the least likewise.
  if (t.high >= t.on_demand) over = std::max<std::size_t>(1, asked.over);
  if (t.low < t.on_demand && asked.ticks > 1) over = std::min<std::size_t>(over, asked.ticks - 1);
  t.body_high = over > 0 ? std::max(t.low, t.on_demand - 1) : t.high;
  WeekValues values;
  values.spikes = fit_spikes(t, over);
  values.excursions = fit_excursions(t, values.spikes);
  const Body body = rest_of(t, values.spikes, values.excursions);
  if (body.count > 0) values.body = fit_body(t, body);
  return values;
}

}  // namespace muster::market

#include "tools/market/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/check.hpp"
#include "tools/market/week_ticks.hpp"

namespace muster::market {
namespace {

/// The first end of a week after `from`, of weeks that end on the weekday of `end`.
Seconds first_end(Seconds from, Seconds end) {
  Seconds past = (from - end) % kWeek;
  if (past < 0) past += kWeek;
  return from - past + kWeek;
}

std::int64_t on_demand_micro(const Catalog& catalog, const std::string& type) {
  const auto id = catalog.find(type);
  MUSTER_CHECK(id.has_value(), "the catalog has the type");
  return catalog[*id].on_demand.nano_usd_h() / 1000;
}

double on_demand_usd(const Catalog& catalog, const std::string& type) {
  return static_cast<double>(on_demand_micro(catalog, type)) / kMicro;
}

}  // namespace

WeekStats measure_week(const std::vector<Tick>& ticks, Seconds end, double on_demand_usd) {
  WeekStats got;
  got.end = end;
  const auto micro = static_cast<std::int64_t>(std::llround(on_demand_usd * kMicro));
  std::int64_t least = 0;
  std::int64_t most = 0;
  double sum = 0;
  for (const Tick& tick : ticks) {
    if (tick.at < end - kWeek || tick.at >= end) continue;
    least = got.ticks == 0 ? tick.price : std::min(least, tick.price);
    most = std::max(most, tick.price);
    sum += static_cast<double>(tick.price) / kMicro;
    got.over += tick.price >= micro ? 1 : 0;
    ++got.ticks;
  }
  if (got.ticks == 0) return got;
  got.min_usd = static_cast<double>(least) / kMicro;
  got.max_usd = static_cast<double>(most) / kMicro;
  got.mean_usd = sum / got.ticks;
  for (const Tick& tick : ticks) {
    if (tick.at < end - kWeek || tick.at >= end) continue;
    const double above = static_cast<double>(tick.price) / kMicro - got.mean_usd;
    got.variance += above * above / got.ticks;
  }
  return got;
}

Expected<GeneratedMarket, ConfigError> generate(const WeeklyStats& stats, const TickShape& shape,
                                                const Catalog& catalog,
                                                const MarketRequest& request) {
  MUSTER_CHECK(request.from < request.to, "a market has a length");
  for (const auto& [key, weeks] : stats) {
    if (!catalog.find(key.type)) {
      return Failure<ConfigError>{ConfigError::invalid,
                                  fmt::format("the catalog has no type '{}'", key.type)};
    }
  }
  GeneratedMarket market;
  std::map<std::string, ZoneWeather> weathers;
  for (const auto& [key, weeks] : stats) {
    ZoneWeather& weather =
        weathers.try_emplace(key.zone, request.seed, key.zone, shape).first->second;
    const double on_demand = on_demand_usd(catalog, key.type);
    const Seconds first = first_end(request.from, weeks.back().end);
    std::vector<Tick>& ticks = market.series[key];
    for (Seconds end = first; end - kWeek < request.to; end += kWeek) {
      const WeekStats& asked = nearest_week(weeks, end);
      const auto number = static_cast<std::uint64_t>((end - first) / kWeek);
      Rng rng = Rng::of_round(request.seed, key.type + " in " + key.zone, number);
      const WeekPlace place{end - kWeek, end - first, number};
      const std::vector<Tick> made =
          place_week(week_values(asked, on_demand), shape, place, weather, rng);
      ticks.insert(ticks.end(), made.begin(), made.end());
      market.weeks.push_back({key, end, asked.end, asked, measure_week(made, end, on_demand)});
    }
  }
  market.series = cut(market.series, request.from, request.to);
  for (auto& [key, ticks] : market.series) {
    // A made-up series has a price from the beginning on: that of its first tick.
    if (ticks.front().at > request.from) {
      ticks.insert(ticks.begin(), {request.from, ticks.front().price});
    }
  }
  return market;
}

SeriesMap one_zone(const SeriesMap& series, const std::string& zone) {
  SeriesMap part;
  for (const auto& [key, ticks] : series) {
    if (key.zone == zone) part.emplace(key, ticks);
  }
  return part;
}

SeriesMap cheapest_zone(const SeriesMap& series) {
  // All changes of a type by time, each with the zone that it is of.
  std::map<std::string, std::vector<std::pair<Tick, std::string>>> changes;
  for (const auto& [key, ticks] : series) {
    for (const Tick& tick : ticks) changes[key.type].emplace_back(tick, key.zone);
  }
  SeriesMap cheapest;
  for (auto& [type, all] : changes) {
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first.at < b.first.at; });
    std::map<std::string, std::int64_t> now;
    std::vector<Tick>& ticks = cheapest[{type, ""}];
    for (std::size_t i = 0; i < all.size(); ++i) {
      now[all[i].second] = all[i].first.price;
      // Changes of one moment count together.
      if (i + 1 < all.size() && all[i + 1].first.at == all[i].first.at) continue;
      std::int64_t least = now.begin()->second;
      for (const auto& [zone, price] : now) least = std::min(least, price);
      if (ticks.empty() || ticks.back().price != least) ticks.push_back({all[i].first.at, least});
    }
  }
  return cheapest;
}

SeriesMap capped_at_on_demand(const SeriesMap& series, const Catalog& catalog) {
  SeriesMap capped;
  for (const auto& [key, ticks] : series) {
    const std::int64_t most = on_demand_micro(catalog, key.type);
    std::vector<Tick>& kept = capped[key];
    for (const Tick& tick : ticks) {
      const std::int64_t price = std::min(tick.price, most);
      if (kept.empty() || kept.back().price != price) kept.push_back({tick.at, price});
    }
  }
  return capped;
}

}  // namespace muster::market

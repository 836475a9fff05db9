#include "tools/market/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "model/check.hpp"

namespace muster::market {
namespace {

const InstanceType& type_of(const Catalog& catalog, const std::string& name) {
  const auto id = catalog.find(name);
  MUSTER_CHECK(id.has_value(), "the catalog has the type");
  return catalog[*id];
}

SeriesFacts facts_of(const SeriesKey& key, const std::vector<Tick>& ticks, double on_demand,
                     Seconds to) {
  SeriesFacts facts;
  facts.key = key;
  facts.ticks = ticks.size();
  double sum = 0;
  double time_sum = 0;
  bool over = false;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double usd = static_cast<double>(ticks[i].price) / kMicro;
    const Seconds end = i + 1 < ticks.size() ? ticks[i + 1].at : to;
    const auto lasts = static_cast<double>(end - ticks[i].at);
    facts.min_usd = i == 0 ? usd : std::min(facts.min_usd, usd);
    facts.max_usd = std::max(facts.max_usd, usd);
    sum += usd;
    time_sum += usd * lasts;
    const bool above = usd > on_demand + 1e-9;
    if (above) facts.over_s += lasts;
    if (above && !over) ++facts.crossings;
    over = above;
  }
  const auto count = static_cast<double>(ticks.size());
  facts.tick_mean_usd = sum / count;
  for (const Tick& tick : ticks) {
    const double away = static_cast<double>(tick.price) / kMicro - facts.tick_mean_usd;
    facts.variance += away * away / count;
  }
  facts.time_mean_usd = time_sum / static_cast<double>(to - ticks.front().at);
  return facts;
}

std::string name_of(const OrderFacts& order) {
  if (order.of == OrderOf::cheapest_zone) return "the cheapest zone";
  return order.of == OrderOf::zone ? "zone " + order.zone : "all zones together";
}

/// A size among the others of its zone, or of all zones.
struct Size {
  double cpus = 1;
  double usd_per_cpu = 0;
  std::size_t number = 0;
};

std::vector<std::size_t> order_of(std::vector<Size> sizes) {
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const Size& a, const Size& b) { return a.usd_per_cpu < b.usd_per_cpu; });
  std::vector<std::size_t> order;
  for (const Size& size : sizes) order.push_back(size.number);
  return order;
}

/// Each series is one of those that change places.
OrderFacts order_facts(const SeriesMap& series, const Catalog& catalog, double days) {
  struct Change {
    Tick tick;
    std::size_t size = 0;
  };
  std::vector<Size> sizes;
  std::vector<Change> changes;
  for (const auto& [key, ticks] : series) {
    const double cpus = type_of(catalog, key.type).capacity[Resource::cpu];
    for (const Tick& tick : ticks) changes.push_back({tick, sizes.size()});
    sizes.push_back({cpus, static_cast<double>(ticks.front().price) / cpus, sizes.size()});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.tick.at < b.tick.at; });
  OrderFacts facts;
  std::vector<std::size_t> order = order_of(sizes);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Size& size = sizes[changes[i].size];
    size.usd_per_cpu = static_cast<double>(changes[i].tick.price) / size.cpus;
    // Changes of one moment count together.
    if (i + 1 < changes.size() && changes[i + 1].tick.at == changes[i].tick.at) continue;
    std::vector<std::size_t> now = order_of(sizes);
    if (now == order) continue;
    ++facts.changes;
    if (now.front() != order.front()) ++facts.first;
    order = std::move(now);
  }
  facts.per_day = static_cast<double>(facts.changes) / days;
  facts.first_per_day = static_cast<double>(facts.first) / days;
  return facts;
}

}  // namespace

SeriesMap spot_series(const PriceSeries& prices) {
  SeriesMap series;
  for (const PricePoint& step : prices.steps) {
    if (step.offering.market != Market::spot) continue;
    const auto at = std::chrono::duration_cast<std::chrono::seconds>(step.at).count();
    std::vector<Tick>& ticks = series[{step.offering.type, step.offering.zone}];
    const Tick tick{at, step.offering.price.nano_usd_h() / 1000};
    if (!ticks.empty() && ticks.back().at == at) {
      ticks.back() = tick;
    } else {
      ticks.push_back(tick);
    }
  }
  return series;
}

MarketFacts describe(const SeriesMap& series, const Catalog& catalog, Seconds from, Seconds to) {
  MUSTER_CHECK(from < to, "a market has a length");
  const SeriesMap part = cut(series, from, to);
  MarketFacts facts;
  facts.days = static_cast<double>(to - from) / static_cast<double>(kDay);
  std::set<std::string> zones;
  for (const auto& [key, ticks] : part) {
    const double on_demand = type_of(catalog, key.type).on_demand.usd_h();
    facts.series.push_back(facts_of(key, ticks, on_demand, to));
    zones.insert(key.zone);
  }
  for (const std::string& zone : zones) {
    facts.orders.push_back(order_facts(one_zone(part, zone), catalog, facts.days));
    facts.orders.back().zone = zone;
  }
  if (zones.size() > 1) {
    facts.orders.push_back(order_facts(cheapest_zone(part), catalog, facts.days));
    facts.orders.back().of = OrderOf::cheapest_zone;
    facts.orders.push_back(order_facts(part, catalog, facts.days));
    facts.orders.back().of = OrderOf::offerings;
  }
  return facts;
}

std::string facts_table(const MarketFacts& facts) {
  std::string text =
      fmt::format("{:.2f} days\n{:<14} {:<5} {:>8} {:>8} {:>9} {:>10} {:>10} {:>10} {:>9} {:>6}\n",
                  facts.days, "type", "zone", "ticks", "min", "max", "tick mean", "time mean",
                  "variance", "over h", "times");
  for (const SeriesFacts& s : facts.series) {
    text += fmt::format(
        "{:<14} {:<5} {:>8} {:>8.4f} {:>9.4f} {:>10.6f} {:>10.6f} {:>10.6f} {:>9.3f} {:>6}\n",
        s.key.type, s.key.zone.empty() ? "-" : s.key.zone, s.ticks, s.min_usd, s.max_usd,
        s.tick_mean_usd, s.time_mean_usd, s.variance, s.over_s / 3600, s.crossings);
  }
  for (const OrderFacts& order : facts.orders) {
    text += fmt::format(
        "The order of cost per vCPU changes {:.1f} times a day in {}; the cheapest type {:.1f}.\n",
        order.per_day, name_of(order), order.first_per_day);
  }
  return text;
}

std::string fit_table(const std::vector<FittedWeek>& weeks) {
  struct Row {
    double ticks_asked = 0;
    double ticks_got = 0;
    double mean_asked = 0;
    double mean_got = 0;
    double deviation_asked = 0;
    double deviation_got = 0;
    double over_asked = 0;
    double over_got = 0;
    double weeks = 0;
  };
  std::map<SeriesKey, Row> rows;
  for (const FittedWeek& week : weeks) {
    Row& row = rows[week.key];
    row.ticks_asked += week.asked.ticks;
    row.ticks_got += week.got.ticks;
    row.mean_asked += week.asked.mean_usd;
    row.mean_got += week.got.mean_usd;
    row.deviation_asked += std::sqrt(week.asked.variance);
    row.deviation_got += std::sqrt(week.got.variance);
    row.over_asked += week.asked.over;
    row.over_got += week.got.over;
    row.weeks += 1;
  }
  std::string text = fmt::format(
      "Asked and got: ticks and ticks over in all weeks, mean and standard deviation of the mean "
      "week\n{:<14} {:<5} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>6} {:>6}\n",
      "type", "zone", "ticks", "got", "mean", "got", "deviation", "got", "over", "got");
  for (const auto& [key, row] : rows) {
    text += fmt::format(
        "{:<14} {:<5} {:>8} {:>8} {:>10.6f} {:>10.6f} {:>10.6f} {:>10.6f} {:>6} {:>6}\n", key.type,
        key.zone, row.ticks_asked, row.ticks_got, row.mean_asked / row.weeks,
        row.mean_got / row.weeks, row.deviation_asked / row.weeks, row.deviation_got / row.weeks,
        row.over_asked, row.over_got);
  }
  return text;
}

}  // namespace muster::market

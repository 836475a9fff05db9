#include "config/price_series.hpp"

#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace muster {

PriceSeries begun_at(PriceSeries series, Duration from) {
  if (from <= Duration::zero()) return series;
  using Key = std::tuple<std::string, Market, std::string>;
  std::map<Key, PricePoint> held;
  PriceSeries later;
  std::size_t next = 0;
  for (; next < series.steps.size() && series.steps[next].at <= from; ++next) {
    const PricePoint& step = series.steps[next];
    const Offering& offering = step.offering;
    // Nothing is rented before the beginning that could be taken back.
    held[{offering.type, offering.market, offering.zone}] = {Duration{}, offering, false};
  }
  for (auto& [key, step] : held) later.steps.push_back(std::move(step));
  for (; next < series.steps.size(); ++next) {
    later.steps.push_back(std::move(series.steps[next]));
    later.steps.back().at -= from;
  }
  return later;
}

}  // namespace muster

#pragma once

#include <string>

#include "model/catalog.hpp"
#include "tools/market/series.hpp"
#include "tools/market/tick_shape.hpp"
#include "tools/market/weekly_stats.hpp"

namespace muster::market::test {

inline InstanceType type_of(const std::string& name, double cpus, double usd) {
  InstanceType type;
  type.name = name;
  type.family = "m4";
  type.capacity = Resources::of(0, cpus, 4 * cpus);
  type.on_demand = Price::from_usd_h(usd);
  type.spot = Price::from_usd_h(usd / 4);
  return type;
}

inline Catalog catalog() {
  return Catalog({type_of("m4.large", 2, 0.1), type_of("m4.4xlarge", 16, 0.8)});
}

/// A shape whose gaps are from a tenth of the mean to about twice it.
inline TickShape shape(double size_correlation = 0) {
  TickShape shape;
  for (int i = 0; i <= 20; ++i) shape.gaps.push_back(0.1 + 0.09 * i);
  shape.spikes = {1, 1, 2, 4};
  shape.spike_gap = 2;
  shape.carried = 0.9;
  shape.memory_ticks = 60;
  shape.memory_s = 12.0 * 3600;
  shape.size_correlation = size_correlation;
  return shape;
}

/// m4.4xlarge in us-west-2a, the week that ends on 12 August 2017.
inline WeekStats spiky_week() {
  return {.end = *parse_day("2017-08-12"),
          .min_usd = 0.2201,
          .max_usd = 10.08,
          .mean_usd = 0.289615,
          .variance = 0.155384,
          .over = 121,
          .ticks = 7329};
}

/// The same without spikes, the week that ends on 1 July, in us-west-2c.
inline WeekStats calm_week() {
  return {.end = *parse_day("2017-07-01"),
          .min_usd = 0.2204,
          .max_usd = 0.236,
          .mean_usd = 0.225274,
          .variance = 1.1e-5,
          .over = 0,
          .ticks = 3306};
}

}  // namespace muster::market::test

#pragma once

#include <string>
#include <vector>

#include "model/rng.hpp"
#include "tools/market/tick_shape.hpp"
#include "tools/market/week_values.hpp"

namespace muster::market {

/// Common part of the sizes in a zone: the level that their prices follow, of mean 0 and variance
/// 1, and when spikes come.
class ZoneWeather {
 public:
  ZoneWeather(std::uint64_t seed, const std::string& zone, const TickShape& shape);

  /// The level at a time, `since` seconds after the first of all weeks began. Times have to rise
  /// only as far as is quick: levels are drawn hour by hour and kept.
  double level(Seconds since);
  /// When the spike of a number comes in the week of a number, as a share of the week.
  double storm(std::uint64_t week, std::size_t number);

 private:
  std::uint64_t seed_;
  std::string zone_;
  Rng rng_;
  double kept_;  ///< of the level, from one hour to the next
  std::vector<double> levels_;
  std::vector<std::vector<double>> storms_;
};

/// A week that is to be made.
struct WeekPlace {
  Seconds start = 0;         ///< of the week
  Seconds since = 0;         ///< likewise, after the first of all weeks began
  std::uint64_t number = 0;  ///< of the week
};

/// Gives the values of a week their times and their order. The values stay what they are.
std::vector<Tick> place_week(const WeekValues& values, const TickShape& shape,
                             const WeekPlace& place, ZoneWeather& weather, Rng& rng);

}  // namespace muster::market

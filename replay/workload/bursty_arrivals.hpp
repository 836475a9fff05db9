#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/rng.hpp"

namespace muster::replay {

/// A Poisson process that switches between two rates at times of its own, each of which lasts an
/// exponentially distributed time: r times the mean rate, and the mean rate over r. Time is counted
/// in mean gaps.
struct TwoRates {
  double ratio = 1;  ///< r, at least 1; 1: one rate, a plain Poisson process
  double cycle = 1;  ///< from one time at the high rate to the next, on average
  double high_share() const { return 1 / (1 + ratio); }  ///< of all time
};

/// The least and only ratio at which the gaps have the squared coefficient of variation, at a mean
/// cycle of `cycle` mean gaps. Nothing where the cycle is too short for any: it has to be longer
/// than (squared_cv - 1) / 2. `squared_cv` is 1 or more.
std::optional<TwoRates> two_rates(double squared_cv, double cycle);

/// The times of the first `count` arrivals from a time on at which nothing is known of the process.
std::vector<double> draw_arrivals(const TwoRates& rates, std::size_t count, Rng& rng);

}  // namespace muster::replay

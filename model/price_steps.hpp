#pragma once

#include <algorithm>
#include <vector>

#include "model/money.hpp"
#include "model/time.hpp"

namespace muster {

/// Price that held until some time.
struct PriceStep {
  Instant until;
  Price price;

  friend bool operator==(const PriceStep&, const PriceStep&) = default;
};

/// Earlier prices, the oldest step first.
using PriceSteps = std::vector<PriceStep>;

/// When a price that changes at `at` counts: changes are told in their order, but a clock that was
/// set back may have stamped them.
inline Instant start_of_price(const PriceSteps& before, Instant at) {
  return before.empty() ? at : std::max(at, before.back().until);
}

/// Charge for [from, until), piece by piece at the price of the moment. Before the first known step
/// the price was that step's.
inline Money charge(const PriceSteps& before, Price now, Instant from, Instant until) {
  Money sum;
  for (const PriceStep& step : before) {
    if (from >= until) return sum;
    if (step.until <= from) continue;
    const Instant to = std::min(step.until, until);
    sum += Money::of(step.price, to - from);
    from = to;
  }
  return from < until ? sum + Money::of(now, until - from) : sum;
}

}  // namespace muster

#include "learning/event_rate.hpp"

#include <cmath>

namespace muster {

std::optional<double> EventRate::per_s() const {
  const double span_s = to_seconds(last_ - first_);
  if (count_ < 2 || span_s <= 0) return std::nullopt;
  // n events lie n - 1 gaps apart.
  return static_cast<double>(count_ - 1) / span_s;
}

std::optional<double> mean_time_to_success_s(double rate_per_s, double probability) {
  if (!(rate_per_s > 0) || !(probability > 0) || probability > 1) return std::nullopt;
  if (probability == 1) return 0.0;
  // The mean time to the first success of a Poisson process that is thinned, by the rate at which
  // nothing happens; log1p for small probabilities.
  return -1.0 / (rate_per_s * std::log1p(-probability));
}

}  // namespace muster

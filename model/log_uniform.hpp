#pragma once

#include <cmath>

#include "model/rng.hpp"

namespace muster {

/// Uniform in the logarithm: as many of 1 to 2 as of 10 to 20. Both bounds are above 0; takes one
/// draw.
inline double log_uniform(double low, double high, Rng& rng) {
  return std::exp(rng.uniform(std::log(low), std::log(high)));
}

}  // namespace muster

#pragma once

#include <cmath>
#include <numbers>

#include "model/rng.hpp"

namespace muster {

/// Normally distributed, of mean 0 and deviation 1; takes two draws.
inline double standard_normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log1p(-rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

}  // namespace muster

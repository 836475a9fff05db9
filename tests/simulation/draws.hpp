#pragma once

#include <cstdint>

#include "model/rng.hpp"

namespace muster::ring {

/// The same number for the same things, spread over all from 0 to 1.
inline double draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
  Rng rng(seed ^ (a * kSpread) ^ ((b + 1) * (kSpread << 1)));
  rng.next();
  return rng.uniform();
}

}  // namespace muster::ring

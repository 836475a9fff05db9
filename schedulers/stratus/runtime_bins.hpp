#pragma once

#include <bit>
#include <cstdint>

#include "model/time.hpp"

namespace muster::stratus {

/// The bin of a remaining run time (Stratus 3.2.1): of the times in units [0,1), [1,2), [2,4) and
/// so on the first, second, third.
constexpr std::uint32_t bin_of(Duration remaining, Duration unit) {
  if (remaining < unit) return 0;
  const auto units = static_cast<std::uint64_t>(remaining / unit);
  return static_cast<std::uint32_t>(std::bit_width(units));
}

/// Number of bins at most, whatever the unit.
inline constexpr std::uint32_t kMostBins = 65;

}  // namespace muster::stratus

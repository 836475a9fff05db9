#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace muster {

inline constexpr std::uint32_t kUnassigned = std::numeric_limits<std::uint32_t>::max();

/// Assigns rows to columns, each column to at most one row and as many rows as there are columns
/// for, so that the sum of the weights (row by row, each from 0) is as large as possible. Gives
/// each row its column or kUnassigned. Cubic in the smaller side.
std::vector<std::uint32_t> best_assignment(std::span<const double> weights, std::size_t rows,
                                           std::size_t columns);

}  // namespace muster

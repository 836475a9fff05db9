#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace muster {

/// Where a variable of a minimisation begins and between what it stays.
struct BoundedVariable {
  double start = 0;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();  ///< `low` itself: it is held fixed
};

/// The value at `at`; fills in the gradient there.
using Objective = std::function<double(std::span<const double> at, std::span<double> gradient)>;

/// When a minimisation ends. Defaults: those of SciPy, whose minima Pollux's published results
/// rest on.
struct MinimumLimits {
  double value_change = 1e7;  ///< of a step, in machine precisions of the value
  double gradient = 1e-5;     ///< greatest component, of what the bounds leave of it
  std::uint32_t evaluations = 15'000;
};

/// A local minimum of a function of a few variables that is smooth nearly everywhere, by a
/// quasi-Newton method of limited memory within bounds: L-BFGS-B (Byrd, Lu, Nocedal and Zhu, 1995;
/// 3.0: Morales and Nocedal, 2011), which goes the same way as the authors' own program. The matrix
/// is kept whole, so that work grows with the cube of the number of variables.
std::vector<double> bounded_minimum(const Objective& objective,
                                    std::span<const BoundedVariable> variables,
                                    const MinimumLimits& limits = {});

}  // namespace muster

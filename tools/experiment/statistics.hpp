#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace muster::experiment {

/// Statistics of one figure over several runs.
struct Statistics {
  std::size_t count = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
  std::optional<double> deviation;   ///< of the sample, by n - 1; nothing for one value
  std::optional<double> half_width;  ///< of the 95% interval of the mean, by Student's t
};

/// Of at least one value.
Statistics statistics_of(std::span<const double> values);

/// The t that a variable with that number of degrees of freedom (at least 1) stays within with a
/// probability of 95%, to three decimals.
double student_t95(std::size_t degrees);

}  // namespace muster::experiment

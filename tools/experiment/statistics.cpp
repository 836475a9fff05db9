#include "tools/experiment/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "model/check.hpp"

// Means of few runs: the intervals are those of Student's t, for with five seeds the normal ones
// would be a third too narrow.

namespace muster::experiment {

double student_t95(std::size_t degrees) {
  MUSTER_CHECK(degrees > 0, "one value has no spread");
  constexpr std::array<double, 30> kTable = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees <= kTable.size()) return kTable[degrees - 1];
  // Abramowitz and Stegun 26.7.5: the expansion around the normal quantile, whose error is below
  // 1e-5 from 30 degrees on.
  constexpr double kZ = 1.959964;
  const auto n = static_cast<double>(degrees);
  const double z3 = kZ * kZ * kZ;
  const double z5 = z3 * kZ * kZ;
  return kZ + (z3 + kZ) / (4 * n) + (5 * z5 + 16 * z3 + 3 * kZ) / (96 * n * n);
}

Statistics statistics_of(std::span<const double> values) {
  MUSTER_CHECK(!values.empty(), "no value has no mean");
  Statistics found;
  found.count = values.size();
  const auto n = static_cast<double>(values.size());
  found.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  found.min = *least;
  found.max = *most;
  if (values.size() == 1) return found;
  double squares = 0;
  for (const double value : values) squares += (value - found.mean) * (value - found.mean);
  found.deviation = std::sqrt(squares / (n - 1));
  found.half_width = student_t95(values.size() - 1) * *found.deviation / std::sqrt(n);
  return found;
}

}  // namespace muster::experiment

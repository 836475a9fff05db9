#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/model_text.hpp"

namespace muster {

/// How exact performance is measured, relative to the value: by a probe of tens of seconds, and in
/// production.
inline constexpr double kProbeNoise = 0.05, kProductionNoise = 0.01;

/// A measured performance of a service, from 0 to 1, where 1 is its best over all configurations
/// with one replica an instance. `at` numbers the configuration, or the degree of collocation.
struct PerformanceSample {
  std::uint32_t at = 0;
  double value = 0;
  double noise = kProbeNoise;  ///< deviation, relative to the value
};

/// All samples at one configuration, taken together.
struct MeasuredPoint {
  std::uint32_t at = 0;
  double value = 0;
  double variance = 0;  ///< of the noise

  friend bool operator==(const MeasuredPoint&, const MeasuredPoint&) = default;
};

/// Adds a sample to what was measured before, in which each configuration stands once. Exact
/// samples weigh more than noisy ones, and of many the newest most, since load changes. A sample
/// that is not finite is left out.
void take_up(std::vector<MeasuredPoint>& measured, const PerformanceSample& sample);

/// The value measured at `at`; nullptr without one.
const MeasuredPoint* measured_at(std::span<const MeasuredPoint> measured, std::uint32_t at);

/// Writes the points, for read_measured().
void write_measured(ModelWriter& out, std::span<const MeasuredPoint> measured);
/// Of numbers below `points`; one that comes twice is a fault of the text.
std::vector<MeasuredPoint> read_measured(ModelReader& in, std::uint32_t points);

/// Prediction for a service: a mean and its deviation for each configuration or degree.
struct PerformanceEstimate {
  std::vector<double> mean;
  std::vector<double> deviation;
  /// Logarithm of the likelihood of what was measured under the past service that fits it best, at
  /// most 0. Far below 0 (-8, say) the service is of a kind that is not in the history.
  double fit = 0;
};

}  // namespace muster

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "learning/services/measured.hpp"
#include "learning/services/service_sizes.hpp"

namespace muster {

/// The most curves that a PerformanceHistory may be told to keep.
inline constexpr std::uint32_t kMostCurves = 2048;

/// Performance of one service by configuration, or by degree of collocation.
using PerformanceCurve = std::vector<double>;

/// Shares and bounds of a history.
struct HistoryParams {
  /// How far a new service may be from a past one: this share of what lies between near past ones.
  double spread = 0.3;
  std::uint32_t nearest = 3;     ///< past ones that count as near
  double ridge = 1e-5;           ///< variance that is added to that of each configuration
  double least_variance = 1e-4;  ///< added to the noise of a measurement
  double probe_noise = kProbeNoise;
  double least_weight = 1e-5;  ///< curves below this share of the best one's weight are left out
  std::uint32_t most_curves = 600;

  friend bool operator==(const HistoryParams&, const HistoryParams&) = default;
};

/// Whether every number is within its bounds.
bool valid_history_params(const HistoryParams& params);
/// Writes the parameters, for read_history_params().
void write_history_params(ModelWriter& out, const HistoryParams& params);
/// The parameters that were written; numbers out of bounds are a fault of the text.
HistoryParams read_history_params(ModelReader& in);

/// Takes each past service, profiled in full, as a hypothesis of what a new one is like: by what
/// was measured of the new one each gets a weight, and is bent towards it by how near services
/// differ. Estimates allocate nothing when the output has its size.
class PerformanceHistory {
 public:
  /// Of curves of that many points, from 1 to kMostPoints.
  explicit PerformanceHistory(std::uint32_t points, const HistoryParams& params = {});

  /// Learns whole curves of values in [0, 1]. Above the greatest number of curves, the older one of
  /// the two that are most alike is forgotten.
  void add(std::span<const PerformanceCurve> curves);

  /// Mean and deviation at each point, without any order among points.
  void estimate(std::span<const MeasuredPoint> measured, PerformanceEstimate& out) const;
  /// The point where a probe leaves the least variance over all; nothing when all are measured.
  std::optional<std::uint32_t> next_probe(std::span<const MeasuredPoint> measured) const;

  std::uint32_t points() const { return points_; }
  std::uint32_t curves() const { return static_cast<std::uint32_t>(values_.size() / stride_); }
  std::span<const double> curve(std::uint32_t which) const;
  const HistoryParams& params() const { return params_; }

  void write(ModelWriter& out) const;
  static PerformanceHistory read(ModelReader& in);
  friend bool operator==(const PerformanceHistory&, const PerformanceHistory&) = default;

 private:
  class Posterior;

  void thin_and_relate();

  std::uint32_t points_;
  std::uint32_t stride_;  ///< numbers of a curve, of which those behind its points are 0
  HistoryParams params_;
  std::vector<double> values_;  ///< the oldest curve, the one after it ...
  std::vector<double> spread_;  ///< covariance of a new service around the past one that it is like
};

/// The history as a text, for parse_history().
std::string history_text(const PerformanceHistory& history);
/// The history of a text; a fault where it is not one, or of another version.
Expected<PerformanceHistory, LearnError> parse_history(std::string_view text);

}  // namespace muster

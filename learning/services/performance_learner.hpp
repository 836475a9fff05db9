#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "learning/services/learner_params.hpp"
#include "learning/services/service_book.hpp"
#include "learning/services/service_sizes.hpp"

namespace muster {

/// The size that a service should have.
struct SizeChoice {
  std::uint32_t at = 0;
  bool reached = false;  ///< whether it is expected to meet the goal; if not it is the largest
  bool settled = false;  ///< whether the margin changes nothing: a further probe would hardly pay
};

/// A performance to reach, and how surely.
struct SizeGoal {
  double value = 1;
  double margin = 0;  ///< deviations by which a prediction has to be above it
};

/// The cheapest configuration whose mean less the margin's deviations reaches the goal. Where it
/// was measured, the measured value counts, and as deviation its noise. When no configuration
/// reaches the goal, the largest.
SizeChoice choose_size(const ServiceSizes& sizes, const PerformanceEstimate& estimate,
                       std::span<const MeasuredPoint> measured, const SizeGoal& goal);

/// Learns how services perform at which size: from curves of services that were profiled in full,
/// and of others from probes and samples of production. A value: it can be copied, sent and saved.
class PerformanceLearner {
 public:
  /// The params have to be valid_learner_params.
  explicit PerformanceLearner(ServiceSizes sizes, const LearnerParams& params = {});

  /// Learns services that were profiled at every configuration.
  void learn_curves(std::span<const PerformanceCurve> curves);
  /// Learns a measurement of a service. One at no configuration is left out.
  void observe(std::uint64_t service, const PerformanceSample& sample);
  void forget(std::uint64_t service);

  std::span<const MeasuredPoint> measured(std::uint64_t service) const {
    return book_.measured(service);
  }
  /// Mean and deviation at every configuration; the mean rises with cores and memory for the kind
  /// `history`. Allocates nothing when the output has its size.
  void estimate(std::uint64_t service, PerformanceEstimate& out) const;
  /// The configuration to measure next; nothing when all are measured.
  std::optional<std::uint32_t> next_probe(std::uint64_t service) const;
  /// The size for a goal in [0, 1]; `scratch` is left with the estimate.
  SizeChoice choose(std::uint64_t service, double goal, PerformanceEstimate& scratch) const;

  const ServiceSizes& sizes() const { return sizes_; }
  const LearnerParams& params() const { return params_; }

  void write(ModelWriter& out) const;
  static PerformanceLearner read(ModelReader& in);
  friend bool operator==(const PerformanceLearner&, const PerformanceLearner&) = default;

 private:
  ServiceSizes sizes_;
  LearnerParams params_;
  std::variant<PerformanceHistory, ServiceRows> model_;
  ServiceBook book_;
};

/// The learner as text, and back; any damage is an error that names the line, and a text of another
/// version is one that says so.
std::string performance_text(const PerformanceLearner& learner);
Expected<PerformanceLearner, LearnError> parse_performance(std::string_view text);

}  // namespace muster

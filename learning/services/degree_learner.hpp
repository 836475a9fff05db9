#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "learning/services/learner_params.hpp"
#include "learning/services/service_book.hpp"
#include "learning/services/shape_history.hpp"

namespace muster {

/// How many replicas of a service an instance may hold.
struct DegreeChoice {
  std::uint32_t at = 0;
  std::uint32_t degree = 1;
  bool reached = false;  ///< whether it is expected to meet the goal; if not it is the least
};

/// Learns how services perform at which degree of collocation. Services have a size, a number from
/// outside; measurements at one size say nothing of another. Otherwise as a PerformanceLearner.
class DegreeLearner {
 public:
  /// Of rising degrees (valid_degrees), and up to kMostPoints sizes.
  DegreeLearner(std::vector<std::uint32_t> degrees, std::uint32_t sizes,
                const LearnerParams& params = {});

  /// Learns services that were profiled at every degree, at one size.
  void learn_curves(std::uint32_t size, std::span<const PerformanceCurve> curves);
  /// Learns a measurement; `at` numbers the degree. At another size than before, the measurements
  /// from before are forgotten. One at no degree or size is left out.
  void observe(std::uint64_t service, std::uint32_t size, const PerformanceSample& sample);
  void forget(std::uint64_t service);

  std::span<const MeasuredPoint> measured(std::uint64_t service, std::uint32_t size) const;
  void estimate(std::uint64_t service, std::uint32_t size, PerformanceEstimate& out) const;
  /// The degree to measure next; nothing when all are measured.
  std::optional<std::uint32_t> next_probe(std::uint64_t service, std::uint32_t size) const;
  /// The largest degree whose mean less the margin's deviations reaches the goal.
  DegreeChoice choose(std::uint64_t service, std::uint32_t size, double goal) const;

  const std::vector<std::uint32_t>& degrees() const { return degrees_; }
  std::uint32_t sizes() const { return sizes_; }
  const LearnerParams& params() const { return params_; }

  void write(ModelWriter& out) const;
  static DegreeLearner read(ModelReader& in);
  friend bool operator==(const DegreeLearner&, const DegreeLearner&) = default;

 private:
  using Rows = std::vector<ServiceRows>;  ///< one model a size

  std::uint32_t points() const { return static_cast<std::uint32_t>(degrees_.size()); }
  bool models_fit() const;

  std::vector<std::uint32_t> degrees_;
  std::uint32_t sizes_;
  LearnerParams params_;
  std::variant<ShapeHistory, Rows> model_;
  ServiceBook book_;
};

/// Whether there are some, not too many, each at least 1 and above the one before.
bool valid_degrees(std::span<const std::uint32_t> degrees);

/// The learner as text, and back; any damage is an error that names the line, and a text of another
/// version is one that says so.
std::string degrees_text(const DegreeLearner& learner);
Expected<DegreeLearner, LearnError> parse_degrees(std::string_view text);

}  // namespace muster

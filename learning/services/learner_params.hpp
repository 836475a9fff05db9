#pragma once

#include <cstdint>

#include "learning/services/factorization_machine.hpp"
#include "learning/services/matrix_factorization.hpp"
#include "learning/services/performance_history.hpp"
#include "learning/services/service_rows.hpp"

namespace muster {

/// Services that a learner may be told to remember the measurements of.
inline constexpr std::uint32_t kMostServices = 1U << 16U;

/// The way in which a learner predicts performance.
enum class LearnerKind : std::uint8_t {
  history,  ///< past services as hypotheses
  fm,       ///< a factorization machine
  mf        ///< matrix factorization
};

/// Which learner, and the parameters of each.
struct LearnerParams {
  LearnerKind kind = LearnerKind::history;
  /// Deviations by which a prediction has to be above the goal.
  double margin = 0.5;
  /// Services whose measurements are kept. Beyond, that of the least number is forgotten.
  std::uint32_t most_services = 4096;
  HistoryParams history{};  ///< of kind history
  FmParams fm{};            ///< of kind fm
  MfParams mf{};            ///< of kind mf
  RowsParams rows{};        ///< of the kinds fm and mf

  friend bool operator==(const LearnerParams&, const LearnerParams&) = default;
};

/// Whether every number is within the bounds of its learner.
bool valid_learner_params(const LearnerParams& params);

}  // namespace muster

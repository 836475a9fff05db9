#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/enum_words.hpp"
#include "model/job.hpp"
#include "model/time.hpp"

namespace muster {

/// How a run time is estimated from those of a group of finished jobs.
enum class Estimator : std::uint8_t {
  median,   ///< of the newest
  mean,     ///< of all
  rolling,  ///< exponentially weighted, the newest with 0.6
  recent    ///< mean of the newest
};
constexpr auto words_of(Estimator) {
  using E = Estimator;
  return std::to_array<EnumWord<E>>(
      {{E::median, "median"}, {E::mean, "mean"}, {E::rolling, "rolling"}, {E::recent, "recent"}});
}
inline constexpr std::size_t kAllEstimators = kEnumerators<Estimator>;
/// The weight of the newest run in Estimator::rolling.
inline constexpr double kNewestWeight = 0.6;

/// A predicted run time (mean task duration), and whose word it is.
struct RuntimePrediction {
  double runtime_s = 0;
  std::string_view key;  ///< attributes that the jobs it was learnt from share with this one
  Estimator estimator = Estimator::median;
};

/// A job, and when it came.
struct SubmittedJob {
  const Job& job;
  Instant at{};
};

}  // namespace muster

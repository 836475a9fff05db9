#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "learning/prediction_errors.hpp"
#include "learning/recent_map.hpp"
#include "learning/runtime_estimator.hpp"
#include "model/enum_words.hpp"

namespace muster {

/// Whose word a predicted run time is.
enum class PredictBy : std::uint8_t {
  log_ratio,    ///< the estimator's, its experts compared so
  nmae_mean,    ///< likewise
  nmae_median,  ///< likewise
  hint          ///< the user's
};
constexpr auto words_of(PredictBy) {
  using E = PredictBy;
  return std::to_array<EnumWord<E>>({{E::log_ratio, "log-ratio"},
                                     {E::nmae_mean, "nmae-mean"},
                                     {E::nmae_median, "nmae-median"},
                                     {E::hint, "hint"}});
}

/// How run times are predicted.
struct PredictParams {
  PredictBy by = PredictBy::log_ratio;
  bool limits = true;           ///< users' statements are learnt from; not where they are the truth
  std::uint32_t values = 1000;  ///< of each feature of a job that are remembered
  std::uint32_t history = 20;   ///< newest run times that are kept with each of them

  friend bool operator==(const PredictParams&, const PredictParams&) = default;
};

/// Predicts run times from jobs that finished, in one of several ways, and knows how far its word
/// was off for the jobs of each user and class: the newest 128 errors of the 1,024 such classes
/// that were heard of last.
class RuntimeForecast {
 public:
  explicit RuntimeForecast(const PredictParams& params = {});

  /// Nothing before the first job, or for a user who states nothing.
  std::optional<RuntimePrediction> predict(const SubmittedJob& job) const;
  /// Learns from a finished job. The prediction for it is compared with its run time before the
  /// estimators change.
  void observe(const SubmittedJob& job, Duration runtime);

  /// The class that a job's prediction errors are counted in: its user and workload class.
  static std::uint64_t error_class(const Job& job);
  /// Pr(0 <= delta < eps) for the class (see SorsRule), empirically; the promise being the
  /// prediction times `margin`. 0 when nothing is known.
  double probability_of_error_within(std::uint64_t error_class, double eps,
                                     double margin = 1) const;
  /// Verdict of the rule on a short job.
  SorsVerdict judge(const SubmittedJob& job, const SorsRule& rule) const;

  const PredictParams& params() const { return params_; }
  /// Of the estimator.
  std::size_t groups() const { return estimator_.groups(); }
  std::size_t classes() const { return errors_.size(); }

  void write(ModelWriter& out) const;
  static RuntimeForecast read(ModelReader& in);

 private:
  PredictParams params_;
  RuntimeEstimator estimator_;  ///< learns by the three ways of comparing its experts
  RecentMap<PredictionErrors> errors_;
};

}  // namespace muster

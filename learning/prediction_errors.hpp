#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "learning/model_text.hpp"
#include "model/enum_words.hpp"

namespace muster {

/// When short jobs' tasks may run on spot instances (HCoop's SORS, equ. 2):
///
///     Pr(0 <= delta < eps) >= p_threshold,   delta = (promised - actual) / promised
///
/// where `promised` is the predicted run time times a margin. delta >= 0 says that the job ran no
/// longer than promised, which is what its SLO is about: an overestimate is safe. delta < eps says
/// that the promise was not so far off as to be worthless: the run took more than (1 - eps) of it.
/// A prediction in the middle of what is to be expected is exceeded by every other job: promised as
/// it is, no job could ever pass. So the margin is the one that suits the past errors best.
struct SorsRule {
  double eps = 0.5;                ///< in (0, 1]
  double p_threshold = 0.95;       ///< P_th
  std::uint32_t min_samples = 20;  ///< of the past errors of the job's class

  friend bool operator==(const SorsRule&, const SorsRule&) = default;
};

/// Why a job's tasks may use spot instances or may not.
enum class SorsReason : std::uint8_t {
  allowed,
  long_job,            ///< long jobs have regular instances
  no_estimate,         ///< nothing is known of such jobs
  too_few_samples,     ///< too little is known of how good estimates of such jobs are
  error_too_probable,  ///< Pr(0 <= delta < eps) is below the threshold
};
constexpr auto words_of(SorsReason) {
  using E = SorsReason;
  return std::to_array<EnumWord<E>>({{E::allowed, "allowed"},
                                     {E::long_job, "long_job"},
                                     {E::no_estimate, "no_estimate"},
                                     {E::too_few_samples, "too_few_samples"},
                                     {E::error_too_probable, "error_too_probable"}});
}

/// The answer, with its numbers.
struct SorsVerdict {
  SorsReason reason = SorsReason::long_job;
  double probability = 0;  ///< Pr(0 <= delta < eps); only with samples enough
  double p_threshold = 0;
  std::uint32_t samples = 0;
  double promised_s = 0;  ///< only with samples enough

  bool allowed() const { return reason == SorsReason::allowed; }
  friend bool operator==(const SorsVerdict&, const SorsVerdict&) = default;
};

/// How far predictions of one class of jobs were off: actual over predicted run times, the newest
/// 128 of them.
class PredictionErrors {
 public:
  static constexpr std::size_t kKept = 128;

  /// Both above 0.
  void add(double predicted_s, double actual_s);
  std::size_t size() const { return ratios_.size(); }

  /// The factor on the predictions under which share_within() is greatest, the greatest such
  /// factor of those that make a run exactly as long as promised; 1 when there are no runs.
  double best_margin(double eps) const;
  /// Share of the runs with 0 <= delta < eps, the promise being the prediction times `margin`; 0
  /// without runs.
  double share_within(double eps, double margin) const;

  /// Verdict of the rule on a short job that is predicted to take `predicted_s`.
  SorsVerdict judge(double predicted_s, const SorsRule& rule) const;

  void write(ModelWriter& out) const;
  void read(ModelReader& in);

 private:
  std::vector<double> ratios_;
  std::size_t next_ = 0;  ///< the oldest, once all places are taken
};

}  // namespace muster

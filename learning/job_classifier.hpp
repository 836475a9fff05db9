#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learning/classifier_training.hpp"
#include "learning/runtime_forecast.hpp"
#include "model/enum_words.hpp"

namespace muster {

/// By what jobs are told apart.
enum class ClassifierKind : std::uint8_t {
  svm,     ///< the classifier; before there is one, as `hint`
  hint,    ///< the user's hint, against the threshold; without a hint a job counts as long
  oracle,  ///< the hint as the truth, as in a replay: nothing is uncertain
  none     ///< not at all: every job counts as long
};
constexpr auto words_of(ClassifierKind) {
  using E = ClassifierKind;
  return std::to_array<EnumWord<E>>(
      {{E::svm, "svm"}, {E::hint, "hint"}, {E::oracle, "oracle"}, {E::none, "none"}});
}

/// How jobs are told apart, and what is learnt from.
struct ClassifierParams {
  ClassifierKind by = ClassifierKind::svm;
  SorsRule sors;
  PredictParams predict;            ///< whose word the run times are
  TrainParams training;             ///< with the threshold T_th
  std::size_t max_history = 5000;   ///< finished jobs that a training may look at
  std::size_t retrain_after = 500;  ///< finished jobs between two trainings
};

/// Basis of the answer on a job's length.
enum class LengthBasis : std::uint8_t {
  model,      ///< the classifier
  hint,       ///< the user's word, taken as it is: the confidence is 1
  assumption  ///< nothing: long, with a confidence of one half
};
constexpr auto words_of(LengthBasis) {
  using E = LengthBasis;
  return std::to_array<EnumWord<E>>(
      {{E::model, "model"}, {E::hint, "hint"}, {E::assumption, "assumption"}});
}

/// Answer to a site scheduler about a job.
struct Classification {
  JobLength length = JobLength::long_run;
  double confidence = 0.5;  ///< the probability that the length is right
  LengthBasis basis = LengthBasis::assumption;
  std::optional<Duration> estimate;  ///< of the mean task duration
  SorsVerdict spot;                  ///< whether the tasks may use spot instances, and why

  friend bool operator==(const Classification&, const Classification&) = default;
};

/// A job that is over, and what the system was like when it was submitted.
struct FinishedJob {
  const Job& job;
  SystemUse use_at_submission;
  Duration runtime{};  ///< its mean task duration
  Instant submitted{};
};

/// Tells short jobs from long ones and says which may use spot instances (HCoop III-C, IV-B), and
/// learns from the jobs that finish. Training takes seconds; it is left to the owner, who takes
/// history() and train_classifier() to any thread and hands the outcome to adopt(). Deterministic:
/// the same calls give the same answers.
class JobClassifier {
 public:
  using Classifier = std::shared_ptr<const LengthClassifier>;

  explicit JobClassifier(const ClassifierParams& params);

  /// Of a job that is submitted at `now`.
  Classification classify(const Job& job, const SystemUse& use, Instant now = {}) const;

  /// Takes a finished job into the history and the predictor's experience.
  void learn(const FinishedJob& finished);

  /// Enough has been learnt since the last training, or there was no training yet and the history
  /// suffices for one. Never when the classifier is not used.
  bool due_for_training() const;
  /// A copy of what a training is to look at, oldest first.
  std::vector<JobSample> history() const { return {history_.begin(), history_.end()}; }
  /// Enough has been learnt to be kept, where no training is to come that would be the occasion.
  bool due_for_saving() const;
  /// It is kept.
  void saved() { learnt_since_ = 0; }
  /// From now on this one answers; not null.
  void adopt(Classifier classifier);

  /// Null before the first training.
  const Classifier& classifier() const { return classifier_; }
  const RuntimeForecast& forecast() const { return forecast_; }
  const ClassifierParams& params() const { return params_; }

  /// Classifier, forecast and history as text, and back. A forecast that was learnt under other
  /// parameters than these is left out. Errors: damaged, other_version, and other_threshold when
  /// the classifier tells jobs apart by another threshold than the parameters.
  std::string text() const;
  void write(ModelWriter& out) const;
  static Expected<JobClassifier, LearnError> parse(std::string_view text,
                                                   const ClassifierParams& params);

 private:
  std::optional<Duration> known_runtime(const Job& job) const;
  void judge_length(const Job& job, const SystemUse& use, Classification& answer) const;
  SorsVerdict judge_spot(const SubmittedJob& submitted, const Classification& answer) const;

  ClassifierParams params_;
  Classifier classifier_;
  RuntimeForecast forecast_;
  std::deque<JobSample> history_;
  std::size_t learnt_since_ = 0;  ///< finished jobs since the last training
};

}  // namespace muster

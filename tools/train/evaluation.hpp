#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learning/job_classifier.hpp"
#include "tools/train/history.hpp"
#include "tools/train/spot_quality.hpp"

namespace muster::train {

/// The classifier beside two that learn nothing, on the same jobs.
struct Comparison {
  Confusion svm;
  Confusion majority;     ///< always the length that is more frequent in the training set
  Confusion hint;         ///< the user's hint against the threshold; without a hint: long
  std::size_t hints = 0;  ///< jobs that state one
};

/// How good the predicted run times of the later part were, each made at the job's submission.
struct PredictorQuality {
  std::size_t predicted = 0;
  double median_ratio = 1;   ///< of predicted and actual, the greater over the smaller
  double within_double = 0;  ///< share with such a ratio of at most 2
};

/// All that came of a training.
struct Outcome {
  JobLength majority = JobLength::long_run;
  std::size_t known = 0;  ///< jobs of the first part that could be learnt from
  TrainReport training;
  std::size_t support_vectors = 0;
  std::optional<LengthAnswer> constant;  ///< the only answer that it ever gives, if it is so
  Comparison validated;                  ///< on the jobs used, by cross-validation
  Comparison tested;                     ///< on the later part
  PredictorQuality predictor;
  SpotQuality spot;   ///< of the jobs of the later part that were taken for short
  std::string model;  ///< the text of a JobClassifier that has seen the whole history
};

/// Trains on the first part of the history and goes through all of it as a site scheduler would
/// have: a job is judged at its submission, by what had finished until then.
Outcome train_and_test(const History& history, const ClassifierParams& params,
                       const TrainProgress& progress);

}  // namespace muster::train

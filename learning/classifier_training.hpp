#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "learning/confusion.hpp"
#include "learning/length_classifier.hpp"

namespace muster {

/// A finished job, as far as the classifier learns from it.
struct JobSample {
  JobFeatures features{};
  Duration runtime{};  ///< its mean task duration

  friend bool operator==(const JobSample&, const JobSample&) = default;
};

/// How much the two lengths count in a training.
enum class ClassWeights : std::uint8_t {
  equal,    ///< every job as much: best accuracy, may give up on a rare length
  balanced  ///< both lengths as much: best mean of the recalls
};

/// How a classifier is trained. Every combination of the grid is tried.
struct TrainParams {
  Duration threshold{std::chrono::minutes{10}};  ///< T_th
  std::vector<double> c = {0.5, 2, 8, 32, 128, 512};
  std::vector<double> gamma = {1.0 / 512, 1.0 / 128, 1.0 / 32, 0.125, 0.5};
  std::vector<double> coef0 = {-1};  ///< with 0 no history that was tried did better
  std::uint32_t folds = 10;
  std::uint64_t seed = 1;          ///< of the folds
  std::size_t max_samples = 2000;  ///< most that one training looks at
  std::size_t min_samples = 20;    ///< fewer are no ground for a machine
  ClassWeights weights = ClassWeights::balanced;
};

/// Result of a training.
struct TrainReport {
  std::size_t samples = 0;  ///< that were there
  std::size_t used = 0;
  std::vector<std::uint32_t> picked;  ///< those used, as positions in the history
  std::size_t shorts = 0, longs = 0;  ///< of those used
  std::uint32_t folds = 0;            ///< 0: one answer for all, nothing was validated
  SigmoidParams chosen;
  Confusion cross_validated;  ///< of the chosen parameters: each job by machines without it
};

/// A classifier, and how it came to be.
struct TrainedClassifier {
  LengthClassifier classifier;
  TrainReport report;
};

/// Told how many of how many combinations of the grid are done.
using TrainProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Trains on a history, oldest first. Of more than `max_samples` it takes some of each length, in
/// the proportion of the lengths, evenly spread over the history: the newest alone validate well
/// and then fail on what comes next. The combination with the best cross-validated score wins
/// (balanced accuracy under balanced weights, else accuracy), the first one on ties. Folds are
/// stratified, and no more than the rarer length has jobs. Fewer than `min_samples`, or fewer than
/// two of a length, give a classifier that always answers the more frequent length (long on ties
/// and without any history). Pure: the same history and parameters give the same classifier.
TrainedClassifier train_classifier(std::span<const JobSample> history, const TrainParams& params,
                                   const TrainProgress& progress = {});

}  // namespace muster

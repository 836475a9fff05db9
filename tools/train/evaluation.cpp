#include "tools/train/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <queue>
#include <utility>

// Trains on the first part of a history and judges on the later one, in the order of submission: at
// each submission the classifier knows only jobs that had ended by then, as it would live.

namespace muster::train {
namespace {

/// Adds to a comparison what needs no classifier.
class Rivals {
 public:
  Rivals(JobLength majority, Duration threshold) : majority_(majority), threshold_(threshold) {}

  void judge(const PastJob& past, Comparison& comparison) const {
    const JobLength actual = length_of(past.runtime, threshold_);
    comparison.majority.add(actual, majority_);
    const auto& hint = past.job->runtime_hint;
    comparison.hints += hint ? 1 : 0;
    comparison.hint.add(actual, hint ? length_of(*hint, threshold_) : JobLength::long_run);
  }

 private:
  JobLength majority_;
  Duration threshold_;
};

/// Goes through a history in the order of submission; its classifier learns from every job when
/// it ends.
class Walk {
 public:
  Walk(const History& history, const ClassifierParams& params)
      : history_(history), classifier_(params) {}

  JobClassifier& classifier() { return classifier_; }

  /// Lets everything happen that did before the instant.
  void until(Instant now) {
    // Ends before the submission at the same instant: a job may learn from one that ends as it
    // comes.
    while (!running_.empty() && running_.top().first <= now) {
      const PastJob& past = history_.jobs[running_.top().second];
      running_.pop();
      classifier_.learn({*past.job, past.use, past.runtime, past.submit});
    }
  }
  void start(std::size_t i) { running_.emplace(history_.jobs[i].end(), i); }

 private:
  using End = std::pair<Instant, std::size_t>;
  const History& history_;
  JobClassifier classifier_;
  std::priority_queue<End, std::vector<End>, std::greater<>> running_;
};

/// The greater of the two over the smaller; run times below a millisecond count as one.
double ratio_of(double a, double b) {
  // A ratio to a time near zero would be of no meaning and of any size.
  constexpr double kLeast_s = 1e-3;
  a = std::max(a, kLeast_s), b = std::max(b, kLeast_s);
  return std::max(a, b) / std::min(a, b);
}

PredictorQuality quality_of(std::vector<double> ratios) {
  PredictorQuality quality{.predicted = ratios.size()};
  if (ratios.empty()) return quality;
  // The upper median of an even number, in O(n).
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  quality.median_ratio = *middle;
  const auto close = std::count_if(ratios.begin(), ratios.end(), [](double r) { return r <= 2; });
  quality.within_double = static_cast<double>(close) / static_cast<double>(ratios.size());
  return quality;
}

/// Trains on what is known of the first part, and compares on the jobs that were used.
TrainedClassifier train(const History& history, const TrainParams& params,
                        const TrainProgress& progress, Outcome& outcome) {
  const std::vector<std::size_t> known = known_jobs(history, params.threshold);
  std::vector<JobSample> samples;
  std::size_t longs = 0;
  for (const std::size_t i : known) {
    const PastJob& past = history.jobs[i];
    samples.push_back({features_of(*past.job, past.use), past.runtime});
    longs += past.runtime > params.threshold ? 1 : 0;
  }
  outcome.known = known.size();
  // The rival that needs no features: always the more frequent length of the training part.
  outcome.majority = 2 * longs < known.size() ? JobLength::short_run : JobLength::long_run;
  TrainedClassifier trained = train_classifier(samples, params, progress);
  const Rivals rivals(outcome.majority, params.threshold);
  for (const std::uint32_t i : trained.report.picked) {
    rivals.judge(history.jobs[known[i]], outcome.validated);
  }
  outcome.validated.svm = trained.report.cross_validated;
  outcome.training = trained.report;
  outcome.constant = trained.classifier.constant();
  outcome.support_vectors = trained.classifier.support_vectors();
  return trained;
}

}  // namespace

Outcome train_and_test(const History& history, const ClassifierParams& params,
                       const TrainProgress& progress) {
  Outcome outcome;
  auto classifier = std::make_shared<const LengthClassifier>(
      train(history, params.training, progress, outcome).classifier);
  const Duration threshold = params.training.threshold;
  const Rivals rivals(outcome.majority, threshold);
  Walk walk(history, params);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < history.jobs.size(); ++i) {
    const PastJob& past = history.jobs[i];
    walk.until(past.submit);
    // Not before: the model has seen the first part, on which its answers would say nothing.
    if (i == history.first_test) walk.classifier().adopt(classifier);
    if (i >= history.first_test) {
      const Classification answer = walk.classifier().classify(*past.job, past.use, past.submit);
      const double runtime_s = to_seconds(past.runtime);
      rivals.judge(past, outcome.tested);
      outcome.tested.svm.add(length_of(past.runtime, threshold), answer.length);
      if (answer.estimate) ratios.push_back(ratio_of(to_seconds(*answer.estimate), runtime_s));
      if (answer.spot.reason != SorsReason::long_job) {
        outcome.spot.add(answer.spot, runtime_s, params.sors.eps);
      }
    }
    walk.start(i);
  }
  walk.until(Instant::max());
  walk.classifier().adopt(std::move(classifier));
  outcome.predictor = quality_of(std::move(ratios));
  outcome.model = walk.classifier().text();
  return outcome;
}

}  // namespace muster::train

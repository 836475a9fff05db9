#include "learning/job_classifier.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "model/check.hpp"

namespace muster {
namespace {

// "sorter" stands in the texts of stores: it names the format.
constexpr std::string_view kJobClassifierKind = "sorter";
constexpr unsigned kJobClassifierVersion = 2;
constexpr std::uint64_t kMaxHistory = 10'000'000;
constexpr std::uint64_t kLongest_ns = INT64_MAX;

void write_duration(ModelWriter& out, Duration duration) {
  out.whole(static_cast<std::uint64_t>(duration.count()));
}

Duration read_duration(ModelReader& in) {
  return Duration{static_cast<std::int64_t>(in.whole(0, kLongest_ns))};
}

void write_sample(ModelWriter& out, const JobSample& sample) {
  out.line("sample");
  write_duration(out, sample.runtime);
  for (const double value : sample.features) out.number(value);
}

JobSample read_sample(ModelReader& in) {
  JobSample sample;
  sample.runtime = read_duration(in);
  for (double& value : sample.features) value = in.number(0, kGreatestLearnt);
  return sample;
}

/// All that a job classifier's text holds.
struct Contents {
  Duration threshold{};
  std::size_t learnt_since = 0;
  JobClassifier::Classifier classifier;
  RuntimeForecast forecast;
  std::vector<JobSample> history;
};

Contents read_contents(ModelReader& in) {
  Contents contents;
  in.line("sorter");
  contents.threshold = read_duration(in);
  contents.learnt_since = in.whole(0, kMaxHistory);
  const std::uint64_t samples = in.whole(0, kMaxHistory);
  const bool trained = in.whole(0, 1) == 1;
  if (trained) {
    contents.classifier = std::make_shared<const LengthClassifier>(LengthClassifier::read(in));
  }
  contents.forecast = RuntimeForecast::read(in);
  for (std::uint64_t i = 0; i < samples && in.line("sample"); ++i) {
    contents.history.push_back(read_sample(in));
  }
  return contents;
}

}  // namespace

JobClassifier::JobClassifier(const ClassifierParams& params)
    : params_(params), forecast_(params.predict) {
  MUSTER_CHECK(params.max_history > 0, "a history has room for something");
}

/// Known run time of a job, where the hint is the truth.
std::optional<Duration> JobClassifier::known_runtime(const Job& job) const {
  return params_.by == ClassifierKind::oracle ? job.runtime_hint : std::nullopt;
}

Classification JobClassifier::classify(const Job& job, const SystemUse& use, Instant now) const {
  const SubmittedJob submitted{job, now};
  Classification answer;
  answer.estimate = known_runtime(job);
  if (!answer.estimate) {
    if (const auto predicted = forecast_.predict(submitted)) {
      answer.estimate = from_seconds(predicted->runtime_s);
    }
  }
  judge_length(job, use, answer);
  answer.spot = judge_spot(submitted, answer);
  return answer;
}

void JobClassifier::judge_length(const Job& job, const SystemUse& use,
                                 Classification& answer) const {
  if (params_.by == ClassifierKind::none) return;
  if (params_.by == ClassifierKind::svm && classifier_ != nullptr) {
    const LengthAnswer guess = classifier_->classify(features_of(job, use));
    answer.length = guess.length;
    answer.confidence = guess.confidence;
    answer.basis = LengthBasis::model;
    // Until a classifier is trained the hint has to do.
  } else if (job.runtime_hint) {
    answer.length = length_of(*job.runtime_hint, params_.training.threshold);
    answer.confidence = 1;
    answer.basis = LengthBasis::hint;
  }
}

SorsVerdict JobClassifier::judge_spot(const SubmittedJob& submitted,
                                      const Classification& answer) const {
  const double p_threshold = params_.sors.p_threshold;
  if (answer.length == JobLength::long_run) {
    return {.reason = SorsReason::long_job, .p_threshold = p_threshold};
  }
  if (const auto known = known_runtime(submitted.job)) {
    return {.reason = SorsReason::allowed,
            .probability = 1,
            .p_threshold = p_threshold,
            .promised_s = to_seconds(*known)};
  }
  return forecast_.judge(submitted, params_.sors);
}

void JobClassifier::learn(const FinishedJob& finished) {
  const Duration runtime = std::max(finished.runtime, Duration::zero());
  if (history_.size() == params_.max_history) history_.pop_front();
  history_.push_back({features_of(finished.job, finished.use_at_submission), runtime});
  forecast_.observe({finished.job, finished.submitted}, runtime);
  ++learnt_since_;
}

bool JobClassifier::due_for_training() const {
  if (params_.by != ClassifierKind::svm) return false;
  const std::size_t needed =
      classifier_ == nullptr ? params_.training.min_samples : params_.retrain_after;
  return learnt_since_ >= needed;
}

bool JobClassifier::due_for_saving() const {
  return params_.by != ClassifierKind::svm && learnt_since_ >= params_.retrain_after;
}

void JobClassifier::adopt(Classifier classifier) {
  MUSTER_CHECK(classifier != nullptr, "a sorter adopts a classifier");
  classifier_ = std::move(classifier);
  // The count begins anew with each training, also for jobs that came while it ran.
  learnt_since_ = 0;
}

void JobClassifier::write(ModelWriter& out) const {
  out.line("sorter");
  write_duration(out, params_.training.threshold);
  out.whole(std::min<std::uint64_t>(learnt_since_, kMaxHistory)).whole(history_.size());
  out.whole(classifier_ == nullptr ? 0 : 1);
  if (classifier_ != nullptr) classifier_->write(out);
  forecast_.write(out);
  for (const JobSample& sample : history_) write_sample(out, sample);
}

std::string JobClassifier::text() const {
  return sealed_text(kJobClassifierKind, kJobClassifierVersion, *this);
}

Expected<JobClassifier, LearnError> JobClassifier::parse(std::string_view text,
                                                         const ClassifierParams& params) {
  auto read = parse_sealed(kJobClassifierKind, kJobClassifierVersion, text, read_contents);
  if (!read) return read.error();
  // A classifier knows one threshold only; its history could be learnt from again.
  if (read->classifier != nullptr && read->threshold != params.training.threshold) {
    return Failure<LearnError>{LearnError::other_threshold,
                               "was trained to tell jobs apart at " +
                                   std::to_string(to_seconds(read->threshold)) + " s, not at " +
                                   std::to_string(to_seconds(params.training.threshold)) + " s"};
  }
  JobClassifier classifier(params);
  classifier.classifier_ = std::move(read->classifier);
  // A model that other parameters made of the past cannot be continued.
  if (read->forecast.params() == params.predict) classifier.forecast_ = std::move(read->forecast);
  classifier.learnt_since_ = read->learnt_since;
  // The newest of them.
  const std::size_t kept = std::min(read->history.size(), params.max_history);
  classifier.history_.assign(read->history.end() - static_cast<std::ptrdiff_t>(kept),
                             read->history.end());
  return classifier;
}

}  // namespace muster

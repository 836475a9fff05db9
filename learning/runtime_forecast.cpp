#include "learning/runtime_forecast.hpp"

#include <algorithm>
#include <array>

#include "learning/fnv.hpp"
#include "learning/job_attributes.hpp"

namespace muster {
namespace {

constexpr std::size_t kClasses = 1024;

bool by_estimator(PredictBy by) {
  return by <= PredictBy::nmae_median;
}

EstimatorParams estimator_params(const PredictParams& params) {
  EstimatorParams own{ExpertScore::log_ratio, params.limits, params.values, params.history};
  if (params.by == PredictBy::nmae_mean) own.score = ExpertScore::nmae_mean;
  if (params.by == PredictBy::nmae_median) own.score = ExpertScore::nmae_median;
  return own;
}

double within_bounds(double seconds) {
  return std::clamp(seconds, kShortestRun_s, kLongestRun_s);
}

}  // namespace

RuntimeForecast::RuntimeForecast(const PredictParams& params)
    : params_(params), estimator_(estimator_params(params)), errors_(kClasses) {}

std::optional<RuntimePrediction> RuntimeForecast::predict(const SubmittedJob& job) const {
  if (by_estimator(params_.by)) return estimator_.predict(job);
  if (!job.job.runtime_hint) return std::nullopt;
  return RuntimePrediction{within_bounds(to_seconds(*job.job.runtime_hint)), "the user's word"};
}

void RuntimeForecast::observe(const SubmittedJob& job, Duration runtime) {
  // Before anything is learnt of it: the error is of a job that was not known.
  if (const auto predicted = predict(job)) {
    errors_.touch(error_class(job.job))
        .add(predicted->runtime_s, within_bounds(to_seconds(runtime)));
  }
  if (by_estimator(params_.by)) estimator_.observe(job, runtime);
}

std::uint64_t RuntimeForecast::error_class(const Job& job) {
  return Fnv().add(job.user).add(job.workload_class).value();
}

double RuntimeForecast::probability_of_error_within(std::uint64_t error_class, double eps,
                                                    double margin) const {
  const PredictionErrors* errors = errors_.find(error_class);
  return errors == nullptr ? 0 : errors->share_within(eps, margin);
}

SorsVerdict RuntimeForecast::judge(const SubmittedJob& job, const SorsRule& rule) const {
  const auto predicted = predict(job);
  if (!predicted) return {.reason = SorsReason::no_estimate, .p_threshold = rule.p_threshold};
  const PredictionErrors* errors = errors_.find(error_class(job.job));
  return (errors == nullptr ? PredictionErrors() : *errors).judge(predicted->runtime_s, rule);
}

void RuntimeForecast::write(ModelWriter& out) const {
  out.line("forecast").whole(static_cast<std::uint64_t>(params_.by));
  out.whole(params_.limits ? 1 : 0).whole(params_.values).whole(params_.history);
  if (by_estimator(params_.by)) estimator_.write(out);
  out.line("classes").whole(errors_.size());
  errors_.each([&](std::uint64_t key, const PredictionErrors& errors) {
    out.line("errors").whole(key);
    errors.write(out);
  });
}

RuntimeForecast RuntimeForecast::read(ModelReader& in) {
  in.line("forecast");
  PredictParams params;
  params.by = static_cast<PredictBy>(in.whole(0, kEnumerators<PredictBy> - 1));
  params.limits = in.whole(0, 1) == 1;
  params.values = static_cast<std::uint32_t>(in.whole(1, kMostValues));
  params.history = static_cast<std::uint32_t>(in.whole(1, kMostHistory));
  RuntimeForecast forecast(params);
  if (by_estimator(params.by)) forecast.estimator_ = RuntimeEstimator::read(in);
  in.line("classes");
  const std::uint64_t classes = in.whole(0, kClasses);
  for (std::uint64_t i = 0; i < classes && in.line("errors"); ++i) {
    const std::uint64_t key = in.whole(0, UINT64_MAX);
    forecast.errors_.touch(key).read(in);
  }
  return forecast;
}

}  // namespace muster

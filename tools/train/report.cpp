#include "tools/train/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "config/numbers.hpp"
#include "model/rounded_text.hpp"

// The outcome of a training as text and as JSON. A share of nothing is shown as "-" and null, not
// 0: a class without jobs has no precision.

namespace muster::train {
namespace {

using Json = nlohmann::ordered_json;
constexpr JobLength kShort = JobLength::short_run;
constexpr JobLength kLong = JobLength::long_run;

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f}", *share * 100) : "-";
}

double share_of(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string figures_row(const std::string& name, const Confusion& c) {
  return fmt::format("  {:<20}{:>10}{:>10}{:>12}{:>9}{:>12}{:>9}\n", name, percent(c.accuracy()),
                     percent(c.balanced_accuracy()), percent(c.precision(kShort)),
                     percent(c.recall(kShort)), percent(c.precision(kLong)),
                     percent(c.recall(kLong)));
}

std::string confusion_table(const Confusion& c) {
  std::string text = fmt::format("  {:<20}{:>10}{:>10}\n", "is \\ taken for", "short", "long");
  for (const JobLength actual : {kShort, kLong}) {
    text += fmt::format("  {:<20}{:>10}{:>10}\n", name_of(actual), c.count(actual, kShort),
                        c.count(actual, kLong));
  }
  return text;
}

std::string comparison_text(const Subject& subject, const std::string& head,
                            const Comparison& comparison) {
  const std::size_t jobs = comparison.majority.total();
  std::string text =
      fmt::format("\n{}: {}, {} short, {} long\n", head, count_text(jobs, "job"),
                  comparison.majority.actual(kShort), comparison.majority.actual(kLong));
  if (jobs == 0) return text;
  text += confusion_table(comparison.svm);
  text += fmt::format("  {:<20}{:>10}{:>10}{:>12}{:>9}{:>12}{:>9}\n", "% of jobs", "accuracy",
                      "balanced", "short prec.", "recall", "long prec.", "recall");
  text += figures_row("classifier", comparison.svm);
  text +=
      figures_row(fmt::format("always {}", name_of(subject.outcome.majority)), comparison.majority);
  if (comparison.hints == 0) return text + "  no job states a run time\n";
  text += figures_row("user's hint", comparison.hint);
  if (comparison.hints < jobs) {
    text += fmt::format("  {} of the jobs state no run time and count as long by the hint\n",
                        jobs - comparison.hints);
  }
  return text;
}

std::string training_text(const Subject& subject) {
  const TrainReport& training = subject.outcome.training;
  const TrainParams& params = subject.params.training;
  std::string text = fmt::format(
      "{}, {} jobs; short: at most {} s\nfirst part: {} jobs, of {} the length was known before "
      "the "
      "later part began, {} are learnt from\n",
      subject.description, subject.history.jobs.size(), seconds_text(params.threshold),
      subject.history.first_test, subject.outcome.known, training.used);
  if (subject.outcome.constant) {
    return text + fmt::format("too few jobs of either length for a machine: always {}\n",
                              name_of(subject.outcome.constant->length));
  }
  const SigmoidParams& chosen = training.chosen;
  return text + fmt::format(
                    "chosen of {} by {} folds: C {:g}, gamma {:g}, coef0 {:g} ({} weights); "
                    "{} support vectors\n",
                    params.c.size() * params.gamma.size() * params.coef0.size(), training.folds,
                    chosen.c, chosen.gamma, chosen.coef0,
                    params.weights == ClassWeights::balanced ? "balanced" : "equal",
                    subject.outcome.support_vectors);
}

std::string prediction_text(const Subject& subject) {
  const PredictorQuality& predictor = subject.outcome.predictor;
  const SpotQuality& spot = subject.outcome.spot;
  const SorsRule& rule = subject.params.sors;
  std::string text;
  if (predictor.predicted > 0) {
    text += fmt::format(
        "\nrun times of the later part, predicted at submission: {} jobs, off by a factor of "
        "{:.2f} "
        "(median), within a factor of 2: {:.1f}%\n",
        predictor.predicted, predictor.median_ratio, predictor.within_double * 100);
  }
  if (spot.short_jobs > 0) {
    text += fmt::format("spot (eps {:g}, P_th {:g}): {} of {} jobs taken for short may use it",
                        rule.eps, rule.p_threshold, spot.allowed, spot.short_jobs);
    if (spot.allowed > 0) {
      text += fmt::format(
          "; {:.1f}% of them ran no longer than promised, {:.1f}% with an error "
          "within [0, eps)",
          share_of(spot.kept, spot.allowed) * 100, share_of(spot.within, spot.allowed) * 100);
    }
    text += "\n";
  }
  return text;
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json confusion_json(const Confusion& c) {
  Json json;
  for (const JobLength actual : {kShort, kLong}) {
    for (const JobLength predicted : {kShort, kLong}) {
      json[fmt::format("{}_as_{}", name_of(actual), name_of(predicted))] =
          c.count(actual, predicted);
    }
  }
  json["accuracy"] = optional_json(c.accuracy());
  json["balanced_accuracy"] = optional_json(c.balanced_accuracy());
  for (const JobLength length : {kShort, kLong}) {
    json[fmt::format("precision_{}", name_of(length))] = optional_json(c.precision(length));
    json[fmt::format("recall_{}", name_of(length))] = optional_json(c.recall(length));
  }
  return json;
}

Json comparison_json(const Comparison& comparison) {
  if (comparison.majority.total() == 0) return nullptr;
  return {{"jobs", comparison.majority.total()},
          {"classifier", confusion_json(comparison.svm)},
          {"majority", confusion_json(comparison.majority)},
          {"hint", comparison.hints == 0 ? Json(nullptr) : confusion_json(comparison.hint)},
          {"jobs_with_hint", comparison.hints}};
}

Json chosen_json(const Outcome& outcome) {
  if (outcome.constant) return nullptr;
  const SigmoidParams& chosen = outcome.training.chosen;
  return {{"c", chosen.c},
          {"gamma", chosen.gamma},
          {"coef0", chosen.coef0},
          {"short_weight", chosen.short_weight},
          {"long_weight", chosen.long_weight},
          {"folds", outcome.training.folds},
          {"support_vectors", outcome.support_vectors}};
}

}  // namespace

std::string text_report(const Subject& subject) {
  std::string text = training_text(subject);
  const Outcome& outcome = subject.outcome;
  if (!outcome.constant) text += comparison_text(subject, "cross-validated", outcome.validated);
  if (outcome.tested.majority.total() > 0) {
    text += comparison_text(subject, "later part", outcome.tested);
  }
  return text + prediction_text(subject);
}

std::string json_report(const Subject& subject) {
  const Outcome& outcome = subject.outcome;
  const Resources& capacity = subject.history.capacity;
  const Json json = {
      {"workload", subject.description},
      {"jobs", subject.history.jobs.size()},
      {"threshold_s", to_seconds(subject.params.training.threshold)},
      {"first_part", subject.history.first_test},
      {"length_known", outcome.known},
      {"learnt_from", outcome.training.used},
      {"capacity",
       {{"cpu", capacity[Resource::cpu]},
        {"memory_gib", capacity[Resource::memory]},
        {"storage_gib", capacity[Resource::storage]},
        {"gpu", capacity[Resource::gpu]}}},
      {"majority", name_of(outcome.majority)},
      {"constant", outcome.constant ? Json(name_of(outcome.constant->length)) : Json(nullptr)},
      {"chosen", chosen_json(outcome)},
      {"cross_validated", outcome.constant ? Json(nullptr) : comparison_json(outcome.validated)},
      {"later_part", comparison_json(outcome.tested)},
      {"predictor",
       {{"predicted", outcome.predictor.predicted},
        {"median_ratio", outcome.predictor.median_ratio},
        {"within_double", outcome.predictor.within_double}}},
      {"spot",
       {{"eps", subject.params.sors.eps},
        {"p_threshold", subject.params.sors.p_threshold},
        {"short_jobs", outcome.spot.short_jobs},
        {"allowed", outcome.spot.allowed},
        {"kept_promise", outcome.spot.kept},
        {"error_within_eps", outcome.spot.within}}}};
  return json.dump(2) + "\n";
}

}  // namespace muster::train

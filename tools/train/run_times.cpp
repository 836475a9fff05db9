#include "tools/train/run_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <queue>
#include <utility>

// Each way to predict goes through the same history as it would live, and is scored on the same
// jobs.

namespace muster::train {
namespace {

using Json = nlohmann::ordered_json;

/// Run times below count as this long: the ratio to one near zero says nothing.
constexpr double kLeast_s = 1e-3;

SourceScore score_by(PredictBy by, const History& history, const ScoreSetup& setup) {
  using End = std::pair<Instant, std::size_t>;
  PredictParams params = setup.predict;
  params.by = by;
  RuntimeForecast forecast(params);
  SourceScore score{.name = std::string(name_of(by))};
  std::map<std::string, RuntimeScore> users;
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  const auto first =
      static_cast<std::size_t>(std::ceil(static_cast<double>(history.jobs.size()) * setup.warm_up));
  for (std::size_t i = 0; i < history.jobs.size(); ++i) {
    const PastJob& past = history.jobs[i];
    // A job may learn from one that ends as it comes.
    for (; !running.empty() && running.top().first <= past.submit; running.pop()) {
      const PastJob& over = history.jobs[running.top().second];
      forecast.observe({*over.job, over.submit}, over.runtime);
    }
    running.emplace(past.end(), i);
    if (i < first) continue;
    const SubmittedJob submitted{*past.job, past.submit};
    const double runtime_s = std::max(to_seconds(past.runtime), kLeast_s);
    std::optional<double> said_s;
    if (const auto predicted = forecast.predict(submitted)) said_s = predicted->runtime_s;
    score.all.add(said_s, runtime_s);
    users[past.job->user].add(said_s, runtime_s);
    if (said_s) score.ratios.push_back(runtime_s / *said_s);
    if (past.runtime <= setup.threshold) {
      score.spot.add(forecast.judge(submitted, setup.sors), runtime_s, setup.sors.eps);
    }
  }
  for (const auto& [user, own] : users) {
    if (own.jobs >= kUserJobs) score.users.push_back(own);
  }
  std::sort(score.ratios.begin(), score.ratios.end());
  return score;
}

/// One figure of each user, ascending.
std::vector<double> of_users(const SourceScore& score, double (RuntimeScore::*figure)() const) {
  std::vector<double> values;
  for (const RuntimeScore& user : score.users) values.push_back((user.*figure)());
  std::sort(values.begin(), values.end());
  return values;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void RuntimeScore::add(std::optional<double> predicted_s, double runtime_s) {
  ++jobs;
  actual_s += runtime_s;
  off_s += std::abs(predicted_s.value_or(0) - runtime_s);
  if (!predicted_s) return;
  ++predicted;
  within_double += runtime_s <= 2 * *predicted_s && *predicted_s <= 2 * runtime_s ? 1 : 0;
}

double RuntimeScore::share_within_double() const {
  return jobs == 0 ? 0 : static_cast<double>(within_double) / static_cast<double>(jobs);
}

std::vector<SourceScore> score_run_times(const History& history, const ScoreSetup& setup) {
  std::vector<SourceScore> scores;
  for (const PredictBy by : kAllOf<PredictBy>) scores.push_back(score_by(by, history, setup));
  return scores;
}

double quantile(const std::vector<double>& ascending, double share) {
  if (ascending.empty()) return 0;
  const double at = share * static_cast<double>(ascending.size() - 1);
  return ascending[static_cast<std::size_t>(std::lround(at))];
}

std::string run_times_text(const std::vector<SourceScore>& scores, const ScoreSetup& setup) {
  std::string text =
      fmt::format("{:<13}{:>9}{:>11}{:>8} |{:>8}{:>11}{:>11}{:>9} |{:>8}{:>9}{:>8}{:>9}\n",
                  "predicted by", "jobs", "within 2x", "NMAE", "users", "mean 2x", "median 2x",
                  "NMAE", "short", "on spot", "kept", "in eps");
  for (const SourceScore& score : scores) {
    const auto shares = of_users(score, &RuntimeScore::share_within_double);
    const SpotQuality& spot = score.spot;
    text += fmt::format(
        "{:<13}{:>9}{:>10.1f}%{:>8.3f} |{:>8}{:>10.1f}%{:>10.1f}%{:>9.3f} |{:>8}{:>9}{:>7.1f}%"
        "{:>8.1f}%\n",
        score.name, score.all.predicted, score.all.share_within_double() * 100, score.all.nmae(),
        shares.size(), mean(shares) * 100, quantile(shares, 0.5) * 100,
        quantile(of_users(score, &RuntimeScore::nmae), 0.5), spot.short_jobs, spot.allowed,
        percent(spot.kept, spot.allowed), percent(spot.within, spot.allowed));
  }
  text += fmt::format(
      "users: those with at least {} scored jobs, their NMAE is the median; short: of at most {:g} "
      "s "
      "indeed;\non spot: let by SORS (eps {:g}, P_th {:g}); kept: ran no longer than promised\n",
      kUserJobs, to_seconds(setup.threshold), setup.sors.eps, setup.sors.p_threshold);
  return text;
}

std::string ratios_csv(const SourceScore& score) {
  constexpr std::size_t kMostRows = 1000;
  std::string text = "actual_over_predicted\n";
  const std::size_t rows = std::min(score.ratios.size(), kMostRows);
  for (std::size_t i = 0; i < rows; ++i) {
    // In the middle of each part, so that drawing a row is drawing a ratio.
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(rows);
    text += fmt::format("{:.6g}\n", quantile(score.ratios, share));
  }
  return text;
}

std::string run_times_json(const std::vector<SourceScore>& scores, const ScoreSetup& setup) {
  Json json = {{"threshold_s", to_seconds(setup.threshold)}, {"warm_up", setup.warm_up}};
  for (const SourceScore& score : scores) {
    const auto shares = of_users(score, &RuntimeScore::share_within_double);
    json["sources"].push_back(
        {{"by", score.name},
         {"jobs", score.all.jobs},
         {"predicted", score.all.predicted},
         {"within_double", score.all.share_within_double()},
         {"nmae", score.all.nmae()},
         {"users", shares.size()},
         {"users_within_double_mean", mean(shares)},
         {"users_within_double_median", quantile(shares, 0.5)},
         {"users_nmae_median", quantile(of_users(score, &RuntimeScore::nmae), 0.5)},
         {"short_jobs", score.spot.short_jobs},
         {"spot_allowed", score.spot.allowed},
         {"spot_kept", score.spot.kept},
         {"spot_within_eps", score.spot.within}});
  }
  return json.dump(2) + "\n";
}

}  // namespace muster::train

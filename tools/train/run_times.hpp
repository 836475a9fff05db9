#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "learning/runtime_forecast.hpp"
#include "tools/train/history.hpp"
#include "tools/train/spot_quality.hpp"

namespace muster::train {

/// How good predicted run times were, each made at its job's submission. A missing prediction
/// counts as one of 0.
struct RuntimeScore {
  std::size_t jobs = 0;
  std::size_t predicted = 0;
  std::size_t within_double = 0;  ///< neither twice as long as predicted nor half
  double off_s = 0;               ///< sum of |predicted - actual|
  double actual_s = 0;

  void add(std::optional<double> predicted_s, double runtime_s);
  /// Of jobs; 0 without any.
  double share_within_double() const;
  /// Normalised mean absolute error; 0 without jobs.
  double nmae() const { return actual_s > 0 ? off_s / actual_s : 0; }
};

/// One way to predict, over a history.
struct SourceScore {
  std::string name;
  RuntimeScore all{};
  std::vector<RuntimeScore> users{};  ///< of each user with at least kUserJobs scored jobs
  SpotQuality spot{};                 ///< of the jobs that were short indeed
  std::vector<double> ratios{};       ///< actual over predicted, of those predicted, ascending
};
/// Fewer jobs of a user say nothing of what is known of him.
inline constexpr std::size_t kUserJobs = 10;

/// Inputs of a scoring.
struct ScoreSetup {
  PredictParams predict;  ///< but for whose word it is
  SorsRule sors;
  Duration threshold{};  ///< T_th, for SORS
  double warm_up = 0.1;  ///< share of the jobs that are learnt from and not scored
};

/// Goes through the history once for each way to predict, in the order of submission: at each the
/// forecast knows the jobs that had ended by then.
std::vector<SourceScore> score_run_times(const History& history, const ScoreSetup& setup);

/// The value at `share` of the way through ascending values; 0 without values.
double quantile(const std::vector<double>& ascending, double share);

/// For people: a row for each way.
std::string run_times_text(const std::vector<SourceScore>& scores, const ScoreSetup& setup);
/// CSV of what the run times were over what was predicted, ascending: a row for each, or the values
/// at 1,000 even shares of the way where there are more.
std::string ratios_csv(const SourceScore& score);
std::string run_times_json(const std::vector<SourceScore>& scores, const ScoreSetup& setup);

}  // namespace muster::train

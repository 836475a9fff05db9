#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learning/model_text.hpp"
#include "learning/recent_map.hpp"
#include "learning/runtime_prediction.hpp"
#include "model/job.hpp"

namespace muster {

/// By what an expert's past errors are compared with those of the others.
enum class ExpertScore : std::uint8_t {
  log_ratio,   ///< mean of |ln(predicted / actual)|: twice and half are equally wrong
  nmae_mean,   ///< sum of |predicted - actual| over the sum of the actual run times
  nmae_median  ///< median of |predicted - actual| over the median of the actual ones, the newest
};

/// The most values and the longest history that an estimator may be told to remember.
inline constexpr std::uint32_t kMostValues = 1'000'000;
inline constexpr std::uint32_t kMostHistory = 1000;

/// Attributes that a RuntimeEstimator looks at, and the bounds of its memory.
struct EstimatorParams {
  ExpertScore score = ExpertScore::log_ratio;
  bool limits = true;           ///< the run time that the user states is an attribute of the job
  std::uint32_t values = 1000;  ///< of each feature that are remembered: those used last
  std::uint32_t history = 20;   ///< newest run times and errors that are kept with a value

  friend bool operator==(const EstimatorParams&, const EstimatorParams&) = default;
};

/// Predicts run times as JVuPredict does. A feature is a set of attributes (user, name, class, hour
/// of day, demands, stated run time); jobs that share its value are a group. Each of four
/// estimators on each group is an expert, which is compared with every job of the group before it
/// learns of it; the one with the least error so far speaks. Experts that were never compared come
/// after all others; the feature that comes first in the list, the most specific, wins ties.
/// Numbers at the end of a job's name count as of a run, not of the job.
class RuntimeEstimator {
 public:
  explicit RuntimeEstimator(const EstimatorParams& params = {});

  /// Nothing before the first job was observed.
  std::optional<RuntimePrediction> predict(const SubmittedJob& job) const;
  /// Learns from a finished job.
  void observe(const SubmittedJob& job, Duration runtime);

  const EstimatorParams& params() const { return params_; }
  /// Groups of all features together.
  std::size_t groups() const;

  void write(ModelWriter& out) const;
  static RuntimeEstimator read(ModelReader& in);

 private:
  struct Score {
    double error = 0;              ///< sum over the jobs that it was compared with
    std::vector<double> recent{};  ///< absolute ones, oldest first; of the median form alone
  };
  struct Group {
    std::uint64_t count = 0;
    double sum_s = 0;
    double rolling_s = 0;
    double compared_s = 0;           ///< sum of the run times that the experts were compared with
    std::vector<double> recent_s{};  ///< oldest first
    std::array<Score, kAllEstimators> scores{};

    std::array<double, kAllEstimators> estimates() const;
  };

  double error_of(const Group& group, std::size_t estimator) const;
  void learn(Group& group, double runtime_s) const;
  void write_group(ModelWriter& out, const Group& group) const;
  Group read_group(ModelReader& in) const;

  EstimatorParams params_;
  std::vector<RecentMap<Group>> features_;  ///< by value, in the order of the list
};

/// The estimator as text, and back; any damage to the text is an error that names the line.
std::string estimator_text(const RuntimeEstimator& estimator);
Expected<RuntimeEstimator, LearnError> parse_estimator(std::string_view text);

}  // namespace muster

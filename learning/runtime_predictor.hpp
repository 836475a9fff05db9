#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learning/prediction_errors.hpp"
#include "learning/recent_map.hpp"
#include "model/job.hpp"

namespace muster {

/// How a run time is estimated from those of a group of finished jobs.
enum class Estimator : std::uint8_t {
  median,  ///< of the newest 20
  mean,    ///< of all
  rolling  ///< exponentially weighted, the newest with 0.6
};
inline constexpr std::size_t kEstimators = 3;
std::string_view name_of(Estimator estimator);

/// A predicted run time (mean task duration), and whose word it is.
struct RuntimePrediction {
  double runtime_s = 0;
  std::string_view key;  ///< what the jobs that it was learnt from share with this one
  Estimator estimator = Estimator::median;
};

/// Predicts run times as JVuPredict does: finished jobs are grouped by what they have in common
/// (user, name, class, demands and conjunctions of these); each estimator on each group is an
/// expert, and the one that has erred least with the groups of a job speaks for it. An expert's
/// error is the mean of |ln(predicted / actual)|, recent ones counting more; experts that have been
/// tried less than twice come after all others; the most specific group wins ties. Numbers at the
/// end of a job's name count as of a run, not of the job.
///
/// Remembers at most so many groups and classes of errors, those that were used last.
class RuntimePredictor {
 public:
  struct Limits {
    std::size_t groups = 8192;
    std::size_t classes = 1024;
  };
  RuntimePredictor() : RuntimePredictor(Limits{}) {}
  explicit RuntimePredictor(const Limits& limits)
      : groups_(limits.groups), errors_(limits.classes) {}

  /// None before the first job was observed.
  std::optional<RuntimePrediction> predict(const Job& job) const;

  /// Learns from a finished job. What the experts say of it is compared with what it took before
  /// any of them learns of it.
  void observe(const Job& job, Duration runtime);

  /// The class that a job's prediction errors are counted in: its user and workload class.
  static std::uint64_t error_class(const Job& job);
  /// Pr(0 <= delta < eps) for the class (see SorsRule), empirically; the promise being the
  /// prediction times `margin`. 0 when nothing is known.
  double probability_of_error_within(std::uint64_t error_class, double eps,
                                     double margin = 1) const;
  /// What the rule says of a short job.
  SorsVerdict judge(const Job& job, const SorsRule& rule) const;

  std::size_t groups() const { return groups_.size(); }
  std::size_t classes() const { return errors_.size(); }

  void write(ModelWriter& out) const;
  static RuntimePredictor read(ModelReader& in);

 private:
  struct Score {
    std::uint32_t tried = 0;
    double error = 0;
  };
  struct Group {
    std::uint64_t count = 0;
    double mean_s = 0;
    double rolling_s = 0;
    std::vector<double> recent_s;  ///< oldest first
    std::array<Score, kEstimators> scores{};

    double estimate_s(Estimator estimator) const;
    void learn(double runtime_s);
    void write(ModelWriter& out) const;
    void read(ModelReader& in);
  };

  RecentMap<Group> groups_;
  RecentMap<PredictionErrors> errors_;
};

/// The predictor as text, and back; any damage to the text is an error that names the line.
std::string predictor_text(const RuntimePredictor& predictor);
Expected<RuntimePredictor, LearnError> parse_predictor(std::string_view text);

}  // namespace muster

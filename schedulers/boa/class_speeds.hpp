#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <variant>
#include <vector>

#include "learning/class_goodput.hpp"
#include "learning/width_rates.hpp"
#include "model/cluster_state.hpp"
#include "model/event.hpp"

namespace muster::boa {

/// How far a job had come when it last said so.
struct JobSeen {
  double done = 0;
  Instant at{};
  Attempt attempt = 0;  ///< of the task that said it
  std::uint32_t width = 0;
  bool went_on = false;  ///< it has made progress in that attempt: its start is over

  friend bool operator==(const JobSeen&, const JobSeen&) = default;
};

/// Learnt speeds of the jobs of a class: of training jobs by the measurements of their steps, of
/// others by their progress.
class ClassSpeeds {
 public:
  explicit ClassSpeeds(const ElasticSpec& spec);

  /// Learns from what a job says now that was seen as `before`, and returns how it is seen from
  /// here on.
  JobSeen observe(const JobProgress& said, const JobSeen& before, JobSeen now);
  /// A job of the class has ended with that progress.
  void observe_end(double done);

  /// The epochs of a job with their learnt speeds, as far as they are known; a job without stated
  /// epochs has one, which ends where jobs of the class did on average.
  ElasticEpochs epochs(const ElasticEpochs& stated, std::uint32_t node_holds) const;
  /// How wide jobs may be by what is known.
  std::uint32_t width_cap() const;

  nlohmann::json save() const;
  /// Nothing, or nlohmann::json::exception thrown, on what save() did not make.
  static std::optional<ClassSpeeds> load(const nlohmann::json& saved);

 private:
  ClassSpeeds() = default;

  std::variant<WidthRates, ClassGoodput> learnt_;
  std::uint64_t ended_ = 0;
  double mean_end_ = 0;
};

}  // namespace muster::boa

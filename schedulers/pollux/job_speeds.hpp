#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "learning/goodput_model.hpp"
#include "learning/width_rates.hpp"
#include "model/cluster_state.hpp"
#include "model/event.hpp"

namespace muster::pollux {

/// How far a job had come when it last said so, and in which run.
struct ProgressSeen {
  double done = 0;
  Instant at{};
  Attempt attempt = 0;  ///< of the task that said it
  std::uint32_t width = 0;
  bool went_on = false;  ///< it has made progress in that attempt: its start is over

  friend bool operator==(const ProgressSeen&, const ProgressSeen&) = default;
};

/// Which widths a table is to have, and relative to what.
struct SpeedQuestion {
  std::uint32_t of_node = 1;  ///< workers of one node at most
  std::uint32_t most = 1;     ///< workers at most
  std::uint32_t fair = 1;     ///< whose speed on one node is 1
};

/// Speedups of a job by its workers and where they are.
struct SpeedTable {
  std::vector<double> one_node;  ///< of 1, 2, ... workers
  std::vector<double> several;   ///< of 2, 3, ... workers
};

/// How speeds are saved: by which kind of model, and its text.
using SavedSpeeds = std::pair<std::string, std::string>;

/// Learnt speed of one job: of training jobs by the measurements of their steps (Pollux 4.1), of
/// others by their progress at each width.
class JobSpeeds {
 public:
  explicit JobSpeeds(const ElasticSpec& spec);

  /// Learns from what the job says now that was seen as `before`, and returns how it is seen from
  /// here on.
  ProgressSeen observe(const JobProgress& said, const ProgressSeen& before, ProgressSeen now);

  /// Predicted speeds. Before anything was learnt a job is as fast as it has workers.
  SpeedTable table(const SpeedQuestion& asked) const;
  /// Workers that the job may be given by what it has shown: twice the most that it had.
  std::uint32_t width_cap() const;
  /// The speed of one worker is known, so that speedups relative to it mean something.
  bool knows_something() const;

  SavedSpeeds save() const;
  /// Nothing on what save() did not make.
  static std::optional<JobSpeeds> load(const SavedSpeeds& saved);

 private:
  /// Rates by the model at one version of it, which are costly to compute.
  struct Cached {
    std::uint64_t version = 0;
    std::uint32_t of_node = 0;
    GoodputTable rates;
  };

  JobSpeeds() = default;
  SpeedTable by_model(const GoodputModel& model, const SpeedQuestion& asked) const;

  std::variant<WidthRates, GoodputModel> learnt_;
  mutable Cached cached_;
};

/// As fast as there are workers.
SpeedTable linear_speeds(const SpeedQuestion& asked);
/// A job's stated speeds in an epoch.
SpeedTable stated_speeds(const ElasticEpoch& epoch, const SpeedQuestion& asked);

}  // namespace muster::pollux

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/task_metrics.hpp"
#include "workers/process/progress.hpp"
#include "workers/process/shim/shim_replica.hpp"

namespace muster::process {

/// The progress and the metrics that a task has told its shim and, of a service, how it is doing.
/// The newest of each is passed on, at most once an interval; the lines that were passed on are
/// kept for an executor that connects later. Times are since boot.
class ShimProgress {
 public:
  static constexpr Duration kInterval = std::chrono::milliseconds{200};

  /// The task has at most `max_metrics` metrics.
  explicit ShimProgress(std::size_t max_metrics = kMaxMetrics,
                        const std::optional<ServiceSpec>& service = {});

  /// Takes a line of the task's; returns the answer.
  std::string hear(std::string_view line, Duration now);
  /// The lines for the executor that are due.
  std::optional<std::string> take_due(Duration now);
  /// When the next line is due; nothing when all is told.
  std::optional<Duration> next_due() const;
  /// The lines that were passed on.
  std::string told() const;
  const Metrics& metrics() const { return metrics_; }

 private:
  std::string hear_metric(std::string_view line, Duration now);
  std::optional<Duration> progress_due() const;
  std::optional<Duration> metrics_due() const;

  std::size_t max_metrics_;
  std::optional<ShimReplica> replica_;
  ProgressMeter meter_;
  std::optional<TrainingSample> step_;   ///< the newest one; it is told with the next progress
  std::optional<ProgressPoint> untold_;  ///< the newest progress, when it came too soon to be told
  double units_ = 0;
  Metrics metrics_;
  std::optional<Duration> untold_metrics_;  ///< since when some are untold
  std::optional<Duration> metrics_told_;    ///< when they were told last
};

}  // namespace muster::process

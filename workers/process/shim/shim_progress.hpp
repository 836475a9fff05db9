#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workers/process/progress.hpp"

namespace muster::process {

/// The progress that a task has told its shim. The newest of it is passed on, at most once an
/// interval; the lines that were passed on are kept for an executor that connects later. Times are
/// since boot.
class ShimProgress {
 public:
  static constexpr Duration kInterval = std::chrono::milliseconds{200};

  /// Takes a line of the task's; returns the answer.
  std::string hear(std::string_view line, Duration now);
  /// The line for the executor, when one is due.
  std::optional<std::string> take_due(Duration now);
  /// When the next line is due; nothing when all is told.
  std::optional<Duration> next_due() const;
  /// The lines that were passed on.
  std::string told() const;

 private:
  ProgressMeter meter_;
  std::optional<TrainingSample> step_;   ///< the newest one; it is told with the next progress
  std::optional<ProgressPoint> untold_;  ///< the newest progress, when it came too soon to be told
  double units_ = 0;
};

}  // namespace muster::process

#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/elastic.hpp"
#include "model/time.hpp"

namespace muster::process {

/// Time since the machine booted: equal for all processes, whatever becomes of the wall clock.
Duration boot_time();

/// Units that were done at a time since the machine booted.
struct ProgressPoint {
  Duration at{};
  double units = 0;
  std::optional<TrainingSample> step{};  ///< of a training task: its last measurement
};

/// The points of one attempt's progress that its present rate follows from.
class ProgressMeter {
 public:
  static constexpr std::size_t kMaxPoints = 64;
  static constexpr Duration kWindow = std::chrono::seconds{60};

  void add(const ProgressPoint& point);
  const std::deque<ProgressPoint>& points() const { return points_; }
  /// Units a second over the newest points, of those since `since` when there are two of them. Less
  /// when nothing has been heard for longer than the points lie apart. Nothing before two points.
  std::optional<double> rate(Duration now, Duration since) const;

 private:
  std::deque<ProgressPoint> points_;
};

/// A task's report on its progress socket: "progress N", N a number of units of at most 1e15.
/// Nothing when the line is not of that form.
std::optional<double> progress_from(std::string_view line);

/// A training task's report of its latest step: "step LOCAL_BATCH ACCUMULATION STEP_S SYNC_S
/// GRAD_SQR GRAD_VAR", as TrainingSample names them; it does not know on how many nodes the step
/// was made. Nothing when the line is not of that form, or no step can have been so.
std::optional<TrainingSample> step_from(std::string_view line);

/// A metric as a task said it: "metric NAME VALUE".
struct SaidMetric {
  std::string_view name;  ///< in the line
  double value = 0;
  std::string problem;  ///< why it is refused; empty: it is valid
};
SaidMetric metric_from(std::string_view line);

/// The best rate seen for each workload class while an attempt had the instance to itself.
class AloneRates {
 public:
  static constexpr std::size_t kMaxClasses = 256;

  /// Starts with what the file holds; one that cannot be read counts as empty.
  explicit AloneRates(std::filesystem::path folder);

  /// Remembers the rate when it is better than the best. Past kMaxClasses new classes are ignored.
  void record(const std::string& workload_class, double rate);
  std::optional<double> best(const std::string& workload_class) const;

 private:
  void save() const;

  std::filesystem::path folder_;
  std::map<std::string, double> best_;
};

}  // namespace muster::process

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/ids.hpp"
#include "model/service.hpp"

// Numbers that programs report of themselves under names of their own choice, such as p99_ms.

namespace muster {

/// Values by name, in the order of the alphabet, each name once.
using Metrics = std::vector<std::pair<std::string, double>>;

/// Bounds that hold whatever a worker is set to: records and messages may rely on them.
inline constexpr std::size_t kMaxMetrics = 64;  ///< of one task
inline constexpr std::size_t kMaxMetricNameBytes = 64;
inline constexpr double kMostMetric = 1e18;  ///< on either side of 0

/// Small letters, digits and '_', a letter first.
bool is_metric_name(std::string_view name);
/// Finite, and no further from 0 than kMostMetric.
bool is_metric_value(double value);
/// As many as there may be, each of which may be, in their order.
bool are_metrics(const Metrics& values);

/// The value of that name becomes the given one; false: the name is new, and there are `most`.
bool set_metric(Metrics& values, std::string_view name, double value, std::size_t most);

/// All that the newest attempt of a task has reported so far.
struct TaskMetrics {
  TaskId task;
  Metrics values;

  friend bool operator==(const TaskMetrics&, const TaskMetrics&) = default;
};

/// Metrics of one attempt, by the word of its worker.
struct AttemptMetrics {
  TaskMetrics said;
  Attempt attempt = 0;
  std::optional<ReplicaState> replica{};  ///< of a service: how it is doing, where that is new
};

}  // namespace muster

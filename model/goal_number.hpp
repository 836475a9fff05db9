#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "model/cluster_state.hpp"

namespace muster {

/// The number of the goal that the replica has said, where it counts: clients may be sent to it,
/// and it does not leave. One that a probe has measured may be old where a check of the replica, or
/// the probe, has failed since: it counts no more until they do well.
inline std::optional<double> goal_number(const TaskRow& task, const ServiceGoal& goal) {
  const bool is_in_doubt = !goal.probe.empty() && task.replica && !task.replica->trouble.empty();
  if (!task.wanted || !is_endpoint(task) || is_in_doubt) return std::nullopt;
  const auto said =
      std::ranges::find(task.metrics, goal.metric, &std::pair<std::string, double>::first);
  return said != task.metrics.end() ? std::optional(said->second) : std::nullopt;
}

}  // namespace muster

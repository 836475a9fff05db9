#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "model/cluster_state.hpp"

namespace muster {

/// The number of the goal that the replica has said, where it counts: clients may be sent to it.
/// One that a probe has measured may be old where a check of the replica, or the probe, has failed
/// since: it counts no more until they do well.
inline std::optional<double> served_number(const TaskRow& task, const ServiceGoal& goal) {
  const bool is_in_doubt = !goal.probe.empty() && task.replica && !task.replica->trouble.empty();
  if (!is_endpoint(task) || is_in_doubt) return std::nullopt;
  const auto said =
      std::ranges::find(task.metrics, goal.metric, &std::pair<std::string, double>::first);
  return said != task.metrics.end() ? std::optional(said->second) : std::nullopt;
}
/// That number of a replica that does not leave: by those how many there are, and of which size, is
/// chosen.
inline std::optional<double> goal_number(const TaskRow& task, const ServiceGoal& goal) {
  return task.wanted ? served_number(task, goal) : std::nullopt;
}

}  // namespace muster

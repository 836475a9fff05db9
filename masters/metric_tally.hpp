#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "model/cluster_state.hpp"

namespace muster {

/// Counts what is held of the numbers that tasks report, so that neither all of them together nor
/// those of one user take more than they may.
class MetricTally {
 public:
  /// The task of the user has that number of values from now on.
  void set(TaskId task, const std::string& user, std::size_t values);
  /// Begins anew, with what a state holds.
  void recall(const ClusterState& state);

  /// Of what is heard of tasks that are known, each once, what is new and may be held; the first
  /// names of a task go before its others. Of `most` values a user may hold no more than are still
  /// free when more are wanted: one user alone comes to half of them and never to all, and whoever
  /// comes later to half of the rest.
  std::vector<TaskMetrics> fitting(std::vector<TaskMetrics> heard, const ClusterState& state,
                                   std::size_t most) const;

  /// How many values each task of an unfinished job has that has any.
  const std::map<TaskId, std::size_t>& tasks() const { return tasks_; }

 private:
  std::size_t values_of(TaskId task) const;

  std::size_t values_ = 0;
  std::map<TaskId, std::size_t> tasks_;
  std::map<std::string, std::size_t> users_;
};

}  // namespace muster

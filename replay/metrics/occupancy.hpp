#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "model/event.hpp"

namespace muster::metrics {

/// The task that has given its instance's resources back by the event: its attempt has ended. Those
/// on an instance that is gone are not told of one by one.
std::optional<TaskId> task_that_left(const Event& event);

/// Which task holds resources on which instance, from the events alone. Events that make no sense
/// change nothing.
class Occupancy {
 public:
  void apply(const Event& event);

  /// The tasks on the instance, in the order in which they came.
  const std::vector<TaskId>& on(InstanceId instance) const;
  std::optional<InstanceId> place_of(TaskId task) const;
  std::size_t tasks() const { return places_.size(); }

 private:
  void leave(TaskId task);

  std::unordered_map<TaskId, InstanceId> places_;
  std::unordered_map<InstanceId, std::vector<TaskId>> on_;
};

}  // namespace muster::metrics

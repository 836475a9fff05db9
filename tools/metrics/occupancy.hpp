#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "model/event.hpp"

namespace muster::metrics {

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

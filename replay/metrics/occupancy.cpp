#include "replay/metrics/occupancy.hpp"

// Where tasks hold resources, by the events that take and give them: from StartIssued to the end of
// the attempt, which is longer than the task runs.

namespace muster::metrics {

std::optional<TaskId> task_that_left(const Event& event) {
  if (const auto* left = std::get_if<TaskCheckpointed>(&event.body)) return left->task;
  if (const auto* finished = std::get_if<TaskFinished>(&event.body)) return finished->task;
  if (const auto* failed = std::get_if<TaskFailed>(&event.body)) return failed->task;
  return std::nullopt;
}

void Occupancy::apply(const Event& event) {
  if (const auto* start = std::get_if<StartIssued>(&event.body)) {
    // An attempt whose worker was lost may be followed by the next without an end of its own.
    leave(start->task);
    places_[start->task] = start->instance;
    on_[start->instance].push_back(start->task);
  } else if (const auto left = task_that_left(event)) {
    leave(*left);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    for (TaskId task : on(gone->instance)) places_.erase(task);
    on_.erase(gone->instance);
  }
}

void Occupancy::leave(TaskId task) {
  const auto place = places_.find(task);
  if (place == places_.end()) return;
  std::erase(on_[place->second], task);
  places_.erase(place);
}

const std::vector<TaskId>& Occupancy::on(InstanceId instance) const {
  // The reference is valid until the next event is applied.
  static const std::vector<TaskId> kNobody;
  const auto found = on_.find(instance);
  return found == on_.end() ? kNobody : found->second;
}

std::optional<InstanceId> Occupancy::place_of(TaskId task) const {
  const auto found = places_.find(task);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

}  // namespace muster::metrics

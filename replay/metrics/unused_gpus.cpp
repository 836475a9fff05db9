#include "replay/metrics/unused_gpus.hpp"

#include <algorithm>
#include <variant>

#include "replay/metrics/occupancy.hpp"

// Keeps the levels between two events and multiplies them by the time in between. GPUs are whole
// numbers nearly always, so that taking an instance out of a level leaves no rounding behind.

namespace muster::metrics {

void UnusedGpus::apply(const Event& event) {
  advance(event.at);
  if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
    const double gpus = (*catalog_)[launch->type].capacity[Resource::gpu];
    if (gpus <= 0) return;
    any_ = true;
    remove(launch->instance);
    count(instances_[launch->instance] = {.gpus = gpus}, 1);
  } else if (const auto* refused = std::get_if<LaunchRefused>(&event.body)) {
    remove(refused->instance);
  } else if (const auto* ready = std::get_if<InstanceReady>(&event.body)) {
    enter(ready->instance, Phase::ready);
  } else if (const auto* given_back = std::get_if<ReleaseDecided>(&event.body)) {
    enter(given_back->instance, Phase::leaving);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    remove(gone->instance);
  } else if (const auto* start = std::get_if<StartIssued>(&event.body)) {
    hold(*start);
  } else if (const auto left = task_that_left(event)) {
    release(*left);
  }
}

void UnusedGpus::advance(Instant now) {
  if (now <= now_) return;
  const double hours = to_hours(now - now_);
  sum_.starting += level_.starting * hours;
  sum_.remainders += level_.remainders * hours;
  sum_.empty += level_.empty * hours;
  sum_.leaving += level_.leaving * hours;
  now_ = now;
}

/// Adds an instance to the levels, or takes it out before it changes.
void UnusedGpus::count(const Instance& instance, double sign) {
  const double free = sign * (instance.gpus - instance.held);
  if (instance.phase == Phase::leaving) {
    level_.leaving += free;
  } else if (instance.phase == Phase::starting) {
    level_.starting += free;
  } else if (instance.held > 0) {
    level_.remainders += free;
  } else {
    level_.empty += free;
  }
}

void UnusedGpus::enter(InstanceId id, Phase phase) {
  const auto found = instances_.find(id);
  if (found == instances_.end()) return;
  count(found->second, -1);
  // Being given back ends an instance's start too, and nothing follows it.
  found->second.phase = std::max(found->second.phase, phase);
  count(found->second, 1);
}

void UnusedGpus::remove(InstanceId id) {
  const auto found = instances_.find(id);
  if (found == instances_.end()) return;
  count(found->second, -1);
  instances_.erase(found);
}

void UnusedGpus::hold(const StartIssued& start) {
  release(start.task);
  const auto found = instances_.find(start.instance);
  if (!start.grant || found == instances_.end()) return;
  const double gpus = start.grant->amount[Resource::gpu];
  held_[start.task] = {start.instance, gpus};
  count(found->second, -1);
  found->second.held += gpus;
  count(found->second, 1);
}

void UnusedGpus::release(TaskId task) {
  const auto holder = held_.find(task);
  if (holder == held_.end()) return;
  // The tasks of an instance that is gone are counted nowhere any more.
  const auto found = instances_.find(holder->second.instance);
  if (found != instances_.end()) {
    count(found->second, -1);
    found->second.held -= holder->second.gpus;
    count(found->second, 1);
  }
  held_.erase(holder);
}

std::optional<UnusedGpuHours> UnusedGpus::finish() const {
  return any_ ? std::optional(sum_) : std::nullopt;
}

}  // namespace muster::metrics

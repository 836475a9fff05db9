#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "model/cluster_state.hpp"

namespace muster {

/// A job's place in the order of the queue: by its priority, then by its age.
struct QueuePlace {
  std::int32_t priority = 0;
  Instant accepted_at;
  JobId job;

  bool is_before(const QueuePlace& other) const {
    return std::tuple(-std::int64_t{priority}, accepted_at, job) <
           std::tuple(-std::int64_t{other.priority}, other.accepted_at, other.job);
  }
  friend bool operator==(const QueuePlace&, const QueuePlace&) = default;
};

/// Where the job stands in the queue.
inline QueuePlace queue_place_of(const JobRow& job) {
  return {job.job.priority, job.accepted_at, job.job.id};
}

/// Capacity that is reserved for a task that has waited long, or has a higher priority than others,
/// where something bounds the capacity: jobs behind its job are not placed in it.
struct KeptRoom {
  TaskId task;  ///< of a gang any one of those that wait
  QueuePlace place;
  /// Instances that have to empty for it, by rising ids: they take nothing that is behind its job,
  /// unless that is expected to end before.
  std::vector<ClosedInstance> closed{};
  std::uint32_t instances = 0;  ///< that the caps are to leave it
  std::int64_t nano_usd_h = 0;  ///< price of an hour of these

  /// The job has to stand back.
  bool is_before(const JobRow& job) const {
    return job.job.id != place.job && place.is_before(queue_place_of(job));
  }
  /// Null: it takes whatever has room there.
  const ClosedInstance* closed_as(InstanceId id) const {
    const auto found = std::ranges::lower_bound(closed, id, {}, &ClosedInstance::instance);
    return found != closed.end() && found->instance == id ? &*found : nullptr;
  }
  bool is_closed(InstanceId id) const { return closed_as(id) != nullptr; }
  friend bool operator==(const KeptRoom&, const KeptRoom&) = default;
  /// The task may come to the instance now: that is not closed, or the task goes before, is there
  /// already, or is expected to end before the others there do.
  bool lets(const ClusterState& state, const TaskRow& task, InstanceId to, Instant now) const;
};

/// The user's estimate of a task's run time alone from its beginning; nothing: no estimate.
std::optional<Duration> said_run_time(const ClusterState& state, const TaskRow& task);

}  // namespace muster

#pragma once

#include <optional>

#include "masters/instances/instance_releases.hpp"

namespace muster {

/// A master's orders to its tasks: where they are to be, when to start and to stop, and why they
/// wait. Each is an event, and a message to the worker that it concerns.
class TaskOrders {
 public:
  /// `move_when_ready`: see MasterSettings.
  TaskOrders(MasterRecorder& recorder, InstanceReleases& releases, bool move_when_ready = false);

  /// Gives the task a place. One that runs is told to stop where it is, at once or, by the
  /// settings, when its new instance is ready.
  void assign(const TaskAssigned& place, Instant now);
  /// The task runs on where it is, and its new instance is ready by now: it is told to stop.
  void move_on(const TaskRow& task, Instant now);
  /// The place that the task was to move to is gone. While it runs on where it is, it stays there
  /// if it may; else it is told to stop.
  void stay_or_leave(TaskId id, Instant now);
  /// Takes the task's place away, with the cause.
  void unassign(TaskId id, const Cause& why, Instant now);
  /// A gang runs whole or not at all: when one task has no place, the others give theirs back, so
  /// that nothing is rented for a gang that cannot progress. Does nothing with other jobs.
  void unassign_gang(const JobRow& job, const Refusal& reason, Instant now);
  /// The tasks of a gang run in step: when one moves, the others start again where they are.
  void restart_peers(const JobRow& job, Instant now);
  /// Starts the next attempt of an assigned task at its place.
  void start(const TaskRow& task, Instant now);
  void stop_if_running(TaskId id, Instant now);
  /// Says the last order of the task's present attempt again.
  void repeat_start(const TaskRow& task, InstanceId on);
  void repeat_stop(TaskId id, Attempt attempt, InstanceId on);

  /// Tells a task that waits why it does. A gang that is larger than the whole fixed fleet is told
  /// that, whatever part of it was refused for what.
  void refuse(TaskId id, const Refusal& refusal, Instant now);
  /// The task waits for just that reason. How often a gang has been refused counts.
  bool knows(TaskId id, const Refusal& refusal) const;

 private:
  const ClusterState& state() const { return recorder_.facts().state; }
  Refusal reason_for(const TaskRow& task, const Refusal& refusal) const;
  bool runs_on(const TaskRow& task) const;

  MasterRecorder& recorder_;
  InstanceReleases& releases_;
  bool move_when_ready_;
};

}  // namespace muster

#pragma once

#include <set>
#include <utility>

#include "masters/services/services.hpp"
#include "masters/tasks/job_ends.hpp"
#include "masters/tasks/reconciler.hpp"

namespace muster {

/// An attempt as a worker knows it.
using KnownAttempt = std::pair<TaskId, Attempt>;

/// Takes in what workers say of attempts. News of an attempt that is not its task's present one
/// change nothing.
class AttemptNews {
 public:
  struct Parts {
    TaskOrders& tasks;
    JobEnds& ends;
    Reconciler& reconciler;
    Services& services;
  };
  AttemptNews(MasterRecorder& recorder, const Parts& parts);

  /// No other instance finds what attempts on this one save. Said before news of those attempts.
  void checkpoints_stay(InstanceId id, Instant now);
  void started(const TaskStarted& news, Instant now);
  void checkpointed(const TaskCheckpointed& news, Instant now);
  void finished(const TaskFinished& news, Instant now);
  /// Whether the task is tried again is said here.
  void failed(TaskFailed news, Instant now);
  /// How a service's replica is doing; news that say nothing new change nothing. Whether any did.
  bool replica(const ReplicaChanged& news, Instant now);
  /// The instance's worker has said which attempts it knows. Of one that should be there and is not
  /// known the start is repeated, or it is lost; one that should stop, or should not be there, is
  /// told to stop.
  void compare(InstanceId id, const std::set<KnownAttempt>& known, Instant now);

 private:
  const ClusterState& state() const { return recorder_.facts().state; }
  const TaskRow* present(TaskId id, Attempt attempt) const;

  MasterRecorder& recorder_;
  TaskOrders& tasks_;
  JobEnds& ends_;
  Reconciler& reconciler_;
  Services& services_;
};

}  // namespace muster

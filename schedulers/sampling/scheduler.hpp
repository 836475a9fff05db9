#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "model/catalog.hpp"
#include "model/time.hpp"
#include "schedulers/sampling/protocol.hpp"

namespace muster::sampling {

/// The workers of a group, with their types.
struct Roster {
  const Catalog* catalog = nullptr;
  std::vector<TypeId> types;  ///< by worker

  std::size_t size() const { return types.size(); }
  const Resources& capacity(WorkerIndex worker) const { return (*catalog)[types[worker]].capacity; }
  /// Demand of a task of the job on the worker; null when it cannot be there.
  const Resources* demand(const SampledJob& job, WorkerIndex worker) const {
    const auto& amount = job.demand[types[worker].value];
    return amount ? &*amount : nullptr;
  }
};

/// Messages that a scheduler wants sent. All of it takes the network's delay, but for `Later`.
struct Reserve {
  WorkerIndex worker = 0;
  Reservation reservation;
};
struct Cancel {
  WorkerIndex worker = 0;
  Cancellation cancellation;
};
/// The answer to a request: a task to run, or none.
struct Answer {
  WorkerIndex worker = 0;
  std::uint32_t ticket = 0;
  std::optional<TaskRef> task;
  bool placed = false;  ///< the task was given its place before
};
/// A task to run that the worker did not ask for.
struct Push {
  WorkerIndex worker = 0;
  TaskRef task;
};
/// To another scheduler of the group.
struct Forward {
  std::uint32_t to = 0;  ///< in the order in which the group has its schedulers
  TaskBatch batch;
};
/// The scheduler has heard of the end of the job's last task; it is told to its user at once.
struct JobOver {
  JobId job;
};
/// settle() is to be called when everything that arrives at this instant has been heard.
struct Later {
  JobId job;
};
using Action = std::variant<Reserve, Cancel, Answer, Push, Forward, JobOver, Later>;
using Actions = std::vector<Action>;

/// A scheduler of a sampling group: messages to it go in with the time, messages from it are added
/// to `out`. It decides at once; nothing else is in or out. Each kind of scheduler is told only
/// some of these things.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// The workers are there; called once, before anything else.
  virtual void open(const Roster& roster, Actions& out) = 0;
  virtual void take(const TaskBatch& batch, Instant now, Actions& out) = 0;
  virtual void asked(const TaskRequest&, Instant, Actions&) {}
  virtual void rejected(const Rejection&, Actions&) {}
  virtual void settle(JobId, Actions&) {}
  virtual void done(const TaskDone&, Instant, Actions&) {}
};

}  // namespace muster::sampling

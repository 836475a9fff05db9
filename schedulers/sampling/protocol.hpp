#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/ids.hpp"
#include "model/resources.hpp"

// Messages of the parties of a sampling group (Sparrow, Eagle, Pigeon). These groups are for
// replay: data that they share by pointer never leaves the process.

namespace muster::sampling {

/// Position of a worker in its group, from 0.
using WorkerIndex = std::uint32_t;

/// A task by its place in its job.
struct TaskRef {
  JobId job;
  std::uint32_t index = 0;

  friend bool operator==(const TaskRef&, const TaskRef&) = default;
};

/// A job as the parties know it. All its tasks count as alike.
struct SampledJob {
  JobId id;
  std::uint32_t tasks = 0;
  double estimate_s = 0;  ///< of each task
  bool is_long = false;
  /// Demand of a task, by instance type; absent: it cannot be there.
  std::vector<std::optional<Resources>> demand;
  /// Tasks that have not reached a worker yet. Workers see it without a message, as in Eagle's
  /// released simulator (succinct remaining time of a job).
  std::uint32_t unlaunched = 0;
};
using SharedJob = std::shared_ptr<SampledJob>;

/// The workers that hold a long task, queued or running (Eagle: succinct state). The newer one has
/// the larger stamp.
struct LongBits {
  std::uint64_t stamp = 0;
  std::vector<bool> has_long;  ///< by worker
};
using SharedBits = std::shared_ptr<const LongBits>;

/// To a worker: the right to ask for a task of the job (a probe), or a place in its queue for a
/// given task (Eagle: long ones).
struct Reservation {
  SharedJob job;
  std::optional<std::uint32_t> task;
  std::uint32_t round = 0;  ///< of the job's sampling
  bool force = false;       ///< a worker with a long task takes it, too
  SharedBits bits;          ///< with a given task
};

/// To a worker: one reservation of the job is of no use any more.
struct Cancellation {
  JobId job;
};

/// From a worker whose room allows it: the next task of the job, or the given one.
struct TaskRequest {
  WorkerIndex worker = 0;
  std::uint32_t ticket = 0;  ///< in the worker's count; the answer repeats it
  JobId job;
  std::optional<std::uint32_t> task;
};

/// From a worker that holds a long task: it does not take the probe.
struct Rejection {
  WorkerIndex worker = 0;
  JobId job;
  std::uint32_t round = 0;
  SharedBits bits;
};

/// From a worker: a task of the job is over and its room is free.
struct TaskDone {
  WorkerIndex worker = 0;
  JobId job;
};

/// Tasks of a job for a scheduler to see to.
struct TaskBatch {
  SharedJob job;
  std::vector<std::uint32_t> tasks;  ///< places in the job
};

}  // namespace muster::sampling

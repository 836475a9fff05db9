#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/ids.hpp"
#include "model/job.hpp"
#include "model/time.hpp"

namespace muster {

/// One attempt to execute: what an executor is given.
struct Execution {
  JobId job;
  TaskSpec task;
  Attempt attempt = 0;
  Resources granted;
};

/// Normalised throughput (0..1] of one attempt at the moment of asking.
struct ExecutionThroughput {
  TaskId task;
  Attempt attempt = 0;
  double normalized = 1;
};

/// What an executor may use of the worker it runs in. Every call has to come from the worker's own
/// thread of control, except `post`, which any thread may call.
struct ExecutorHost {
  std::function<Instant()> now;
  std::function<void(Instant, std::function<void()>)> at;  ///< runs the step in the worker then
  std::function<void(std::function<void()>)> post;         ///< runs the step in the worker soon

  std::function<void(TaskId, Attempt, Duration fetch, Duration build)> started;
  std::function<void(TaskId, Attempt, Duration upload)> left;
  std::function<void(TaskId, Attempt)> finished;
  std::function<void(TaskId, Attempt, std::string reason)> failed;
};

/// How a worker runs tasks. Each attempt that is started ends with exactly one of left (after
/// stop), finished or failed.
class Executor {
 public:
  virtual ~Executor() = default;

  virtual void start(const Execution& execution) = 0;
  /// Lets the attempt save a checkpoint and end. Has no effect on an attempt that is over.
  virtual void stop(TaskId task, Attempt attempt) = 0;
  /// The throughput of every attempt that has started, ordered by task.
  virtual std::vector<ExecutionThroughput> sample() = 0;
};

/// Makes the executor of an instance's worker.
using ExecutorFactory = std::function<std::unique_ptr<Executor>(InstanceId, TypeId, ExecutorHost)>;

}  // namespace muster

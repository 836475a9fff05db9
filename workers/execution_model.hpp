#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "model/ids.hpp"
#include "model/time.hpp"
#include "workers/executor.hpp"

namespace muster {

/// What a model is told of a task that is loaded.
struct LoadedTask {
  TaskId task;
  InstanceId instance;
  TypeId type;
  std::uint32_t together = 1;       ///< tasks that the job runs as
  std::function<void()> on_done;    ///< called when all its work is done
  std::function<void()> on_change;  ///< called when its job's work changes its nature: a new epoch
};

/// The truth that the model executor asks instead of running anything: how fast loaded tasks
/// progress and when their jobs are done.
class ExecutionModel {
 public:
  virtual ~ExecutionModel() = default;

  /// The moment as the model counts it: it may know only whole steps of time.
  virtual Instant instant(Instant now) const = 0;

  /// The task is loaded on the instance: it interferes, and progresses once its job's other tasks
  /// are loaded too and the job is initialised.
  virtual void load(LoadedTask task) = 0;

  /// The task makes no progress any more and interferes no more; what it did is saved.
  virtual void unload(TaskId task) = 0;
  /// The same, but what it did since it was last unloaded is lost.
  virtual void lose(TaskId task) = 0;

  /// Present pace relative to running alone, (0..1]. The task has to be loaded.
  virtual double throughput(TaskId task) const = 0;
  /// How far its job has come, as the task would say; nothing where it says nothing.
  virtual std::optional<ExecutionProgress> progress(TaskId) const { return std::nullopt; }
};

}  // namespace muster

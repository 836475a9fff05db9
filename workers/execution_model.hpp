#pragma once

#include <functional>

#include "model/ids.hpp"
#include "model/time.hpp"

namespace muster {

/// The truth that the model executor asks instead of running anything: how fast loaded tasks
/// progress and when their jobs are done.
class ExecutionModel {
 public:
  virtual ~ExecutionModel() = default;

  /// The moment as the model counts it: it may know only whole steps of time.
  virtual Instant instant(Instant now) const = 0;

  /// The task is loaded on the instance: it interferes, and progresses once its job's other tasks
  /// are loaded too and the job is initialised. `on_done` is called when all its work is done.
  virtual void load(TaskId task, InstanceId instance, TypeId type,
                    std::function<void()> on_done) = 0;

  /// The task makes no progress any more and interferes no more; what it did is saved.
  virtual void unload(TaskId task) = 0;
  /// The same, but what it did since it was last unloaded is lost.
  virtual void lose(TaskId task) = 0;

  /// Present pace relative to running alone, (0..1]. The task has to be loaded.
  virtual double throughput(TaskId task) const = 0;
};

}  // namespace muster

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/ids.hpp"
#include "model/resources.hpp"
#include "model/time.hpp"
#include "workers/executor.hpp"

namespace muster {

/// Listener for a model's news of the tasks that were loaded for it. It outlives their time in the
/// model.
class LoadListener {
 public:
  virtual ~LoadListener() = default;
  /// All the task's work is done.
  virtual void on_done(TaskId task, Attempt attempt) = 0;
  /// Its job's work changes its nature: a new epoch. Or, of a service, its replica has something
  /// to say of itself.
  virtual void on_change(TaskId task, Attempt attempt) = 0;
};

/// Whom to tell of a loaded task, and what it is called there.
struct LoadCaller {
  LoadListener* listener = nullptr;
  TaskId task;
  Attempt attempt = 0;

  void tell_done() const { listener->on_done(task, attempt); }
  void tell_change() const { listener->on_change(task, attempt); }
};

/// A task that is loaded into a model.
struct LoadedTask {
  TaskId task;
  InstanceId instance;
  TypeId type;
  std::uint32_t together = 1;  ///< tasks that the job runs as
  LoadCaller caller;
  Resources granted{};  ///< that it may use there
};

/// Name of a replica's performance among the numbers that tasks report of themselves.
inline constexpr std::string_view kPerformanceMetric = "performance";

/// A service's replica speaks of itself.
struct ReplicaWord {
  bool ready = false;
  std::optional<double> performance{};  ///< in [0, 1]; nothing: it does not measure it
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
  virtual void load(const LoadedTask& task) = 0;

  /// The task makes no progress any more and interferes no more; its work is saved.
  virtual void unload(TaskId task) = 0;
  /// Likewise, but its work since it was last unloaded is lost.
  virtual void lose(TaskId task) = 0;

  /// Present pace relative to running alone, (0..1]. The task has to be loaded.
  virtual double throughput(TaskId task) const = 0;
  /// How far its job has come, as the task would say; nothing where it says nothing.
  virtual std::optional<ExecutionProgress> progress(TaskId) const { return std::nullopt; }
  /// How a loaded replica of a service does; nothing for all other tasks.
  virtual std::optional<ReplicaWord> replica(TaskId) const { return std::nullopt; }
};

}  // namespace muster

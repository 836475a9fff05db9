#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "model/resources.hpp"
#include "workers/execution_model.hpp"
#include "workers/executor.hpp"

namespace muster {

/// Goes through the motions of running tasks in the time that an execution model says they take:
/// fetch, build (once an image), run, stop, upload.
class ModelExecutor final : public Executor, private LoadListener {
 public:
  ModelExecutor(InstanceId instance, TypeId type, WorkerCalls& worker, ExecutionModel& model);
  ~ModelExecutor() override;
  ModelExecutor(const ModelExecutor&) = delete;
  ModelExecutor& operator=(const ModelExecutor&) = delete;

  void start(const TaskOrder& order) override;
  void stop(TaskId task, Attempt attempt) override;
  std::vector<ExecutionSample> sample() override;

 private:
  enum class Phase : std::uint8_t { loading, running, stopping, uploading };
  /// State of an attempt that is needed to go through its motions.
  struct Run {
    Attempt attempt = 0;
    std::uint32_t together = 1;
    Phase phase = Phase::loading;
    Delays delays;
    std::string image;
    Resources granted;
  };

  Run* find(TaskId task, Attempt attempt);
  void loaded(TaskId task, Attempt attempt);
  void stopped(TaskId task, Attempt attempt);
  void uploaded(TaskId task, Attempt attempt);
  void done(TaskId task, Attempt attempt);
  void changed(TaskId task, Attempt attempt);
  // The model calls from outside this worker, so the news comes in by a step of it.
  void on_done(TaskId task, Attempt attempt) override;
  void on_change(TaskId task, Attempt attempt) override;

  InstanceId instance_;
  TypeId type_;
  WorkerCalls& worker_;
  ExecutionModel& model_;
  std::map<TaskId, Run> runs_;
  std::set<std::string> images_;  ///< built, or received ready-made, by a load that has ended
};

}  // namespace muster

#pragma once

#include <map>
#include <set>
#include <string>

#include "workers/execution_model.hpp"
#include "workers/executor.hpp"

namespace muster {

/// Goes through the motions of running tasks in the time that an execution model says they take:
/// fetch, build (once an image), run, stop, upload.
class ModelExecutor : public Executor {
 public:
  ModelExecutor(InstanceId instance, TypeId type, ExecutorHost host, ExecutionModel& model);
  ~ModelExecutor() override;
  ModelExecutor(const ModelExecutor&) = delete;
  ModelExecutor& operator=(const ModelExecutor&) = delete;

  void start(const Execution& execution) override;
  void stop(TaskId task, Attempt attempt) override;
  std::vector<ExecutionSample> sample() override;

 private:
  enum class Phase { loading, running, stopping, uploading };
  struct Run {
    Execution execution;
    Phase phase = Phase::loading;
  };

  Run* find(TaskId task, Attempt attempt);
  void loaded(TaskId task, Attempt attempt);
  void stopped(TaskId task, Attempt attempt);
  void uploaded(TaskId task, Attempt attempt);
  void done(TaskId task, Attempt attempt);
  void changed(TaskId task, Attempt attempt);

  InstanceId instance_;
  TypeId type_;
  ExecutorHost host_;
  ExecutionModel& model_;
  std::map<TaskId, Run> runs_;
  std::set<std::string> images_;  ///< built, or received ready-made, by a load that has ended
};

}  // namespace muster

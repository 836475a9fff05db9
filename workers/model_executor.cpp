#include "workers/model_executor.hpp"

#include <utility>

namespace muster {

ModelExecutor::ModelExecutor(InstanceId instance, TypeId type, ExecutorHost host,
                             ExecutionModel& model)
    : instance_(instance), type_(type), host_(std::move(host)), model_(model) {}

ModelExecutor::~ModelExecutor() {
  // The instance is gone: nothing that ran there was saved.
  for (const auto& [task, run] : runs_) {
    if (run.phase == Phase::running || run.phase == Phase::stopping) model_.lose(task);
  }
}

ModelExecutor::Run* ModelExecutor::find(TaskId task, Attempt attempt) {
  const auto found = runs_.find(task);
  // Steps that were set for an earlier attempt find nothing of theirs.
  if (found == runs_.end() || found->second.execution.attempt != attempt) return nullptr;
  return &found->second;
}

void ModelExecutor::start(const Execution& execution) {
  const TaskId task = execution.task.id;
  const Attempt attempt = execution.attempt;
  const Delays& delays = execution.task.delays;
  // An image is built once an instance; a task without one has nothing to build.
  const bool built = execution.task.image.empty() || images_.contains(execution.task.image);
  const Duration load = delays.fetch + (built ? Duration::zero() : delays.build);
  runs_[task] = {execution, Phase::loading};
  host_.at(model_.instant(host_.now()) + load, [this, task, attempt] { loaded(task, attempt); });
}

void ModelExecutor::loaded(TaskId task, Attempt attempt) {
  Run* run = find(task, attempt);
  if (run == nullptr || run->phase != Phase::loading) return;
  run->phase = Phase::running;
  const TaskSpec& spec = run->execution.task;
  // Only now: a load that is broken off leaves no image behind.
  images_.insert(spec.image);
  // The model calls back from outside this worker, so the news comes in through the host.
  const auto later = [this, task, attempt](void (ModelExecutor::*step)(TaskId, Attempt)) {
    return [this, task, attempt, step, post = host_.post] {
      post([this, task, attempt, step] { (this->*step)(task, attempt); });
    };
  };
  model_.load({task, instance_, type_, run->execution.task_count, later(&ModelExecutor::done),
               later(&ModelExecutor::changed)});
  host_.started(task, attempt, spec.delays.fetch, spec.delays.build);
}

void ModelExecutor::stop(TaskId task, Attempt attempt) {
  Run* run = find(task, attempt);
  if (run == nullptr || run->phase == Phase::stopping || run->phase == Phase::uploading) return;
  const Instant now = model_.instant(host_.now());
  if (run->phase == Phase::loading) {  // nothing has run, so there is nothing to save
    run->phase = Phase::uploading;
    host_.at(now, [this, task, attempt] { uploaded(task, attempt); });
    return;
  }
  run->phase = Phase::stopping;
  host_.at(now + run->execution.task.delays.stop,
           [this, task, attempt] { stopped(task, attempt); });
}

void ModelExecutor::stopped(TaskId task, Attempt attempt) {
  Run* run = find(task, attempt);
  if (run == nullptr || run->phase != Phase::stopping) return;
  run->phase = Phase::uploading;
  model_.unload(task);
  host_.at(model_.instant(host_.now()) + run->execution.task.delays.upload,
           [this, task, attempt] { uploaded(task, attempt); });
}

void ModelExecutor::uploaded(TaskId task, Attempt attempt) {
  Run* run = find(task, attempt);
  if (run == nullptr || run->phase != Phase::uploading) return;
  const Duration upload = run->execution.task.delays.upload;
  runs_.erase(task);
  host_.checkpointed(task, attempt, upload, {});
}

void ModelExecutor::done(TaskId task, Attempt attempt) {
  Run* run = find(task, attempt);
  // Work that ends while the stop is under way is done all the same.
  if (run == nullptr || (run->phase != Phase::running && run->phase != Phase::stopping)) return;
  runs_.erase(task);
  host_.finished(task, attempt, {});
}

void ModelExecutor::changed(TaskId task, Attempt attempt) {
  const Run* run = find(task, attempt);
  if (run != nullptr && run->phase == Phase::running) host_.progressed(task, attempt);
}

std::vector<ExecutionSample> ModelExecutor::sample() {
  // A map, so that samples come in the order of tasks, the same in every replay.
  std::vector<ExecutionSample> samples;
  for (const auto& [task, run] : runs_) {
    if (run.phase != Phase::running && run.phase != Phase::stopping) continue;
    samples.push_back(
        {task, run.execution.attempt, model_.throughput(task), model_.progress(task)});
  }
  return samples;
}

}  // namespace muster

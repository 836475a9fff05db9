#include "workers/model_executor.hpp"

#include <utility>

namespace muster {

ModelExecutor::ModelExecutor(InstanceId instance, TypeId type, WorkerCalls& worker,
                             ExecutionModel& model)
    : instance_(instance), type_(type), worker_(worker), model_(model) {}

ModelExecutor::~ModelExecutor() {
  // The instance is gone: nothing that ran there was saved.
  for (const auto& [task, run] : runs_) {
    if (run.phase == Phase::running || run.phase == Phase::stopping) model_.lose(task);
  }
}

ModelExecutor::Run* ModelExecutor::find(TaskId task, Attempt attempt) {
  const auto found = runs_.find(task);
  // Steps that were set for an earlier attempt find nothing of theirs.
  if (found == runs_.end() || found->second.attempt != attempt) return nullptr;
  return &found->second;
}

void ModelExecutor::start(const TaskOrder& order) {
  const TaskId task = order.task.id;
  const Attempt attempt = order.attempt;
  const Delays& delays = order.task.delays;
  // An image is built once an instance; a task without one has nothing to build.
  const bool built = order.task.image.empty() || images_.contains(order.task.image);
  const Duration load = delays.fetch + (built ? Duration::zero() : delays.build);
  runs_[task] = {attempt, order.task_count, Phase::loading,
                 delays,  order.task.image, order.granted};
  worker_.at(model_.instant(worker_.now()) + load,
             [this, task, attempt] { loaded(task, attempt); });
}

void ModelExecutor::loaded(TaskId task, Attempt attempt) {
  Run* run = find(task, attempt);
  if (run == nullptr || run->phase != Phase::loading) return;
  run->phase = Phase::running;
  // Only now: a load that is broken off leaves no image behind.
  if (!run->image.empty()) images_.insert(run->image);
  const Delays delays = run->delays;
  model_.load({task, instance_, type_, run->together, {this, task, attempt}, run->granted});
  worker_.started(task, attempt, delays.fetch, delays.build);
}

void ModelExecutor::on_done(TaskId task, Attempt attempt) {
  worker_.post([this, task, attempt] { done(task, attempt); });
}

void ModelExecutor::on_change(TaskId task, Attempt attempt) {
  worker_.post([this, task, attempt] { changed(task, attempt); });
}

void ModelExecutor::stop(TaskId task, Attempt attempt) {
  Run* run = find(task, attempt);
  if (run == nullptr || run->phase == Phase::stopping || run->phase == Phase::uploading) return;
  const Instant now = model_.instant(worker_.now());
  if (run->phase == Phase::loading) {  // nothing has run, so there is nothing to save
    run->phase = Phase::uploading;
    worker_.at(now, [this, task, attempt] { uploaded(task, attempt); });
    return;
  }
  run->phase = Phase::stopping;
  worker_.at(now + run->delays.stop, [this, task, attempt] { stopped(task, attempt); });
}

void ModelExecutor::stopped(TaskId task, Attempt attempt) {
  Run* run = find(task, attempt);
  if (run == nullptr || run->phase != Phase::stopping) return;
  run->phase = Phase::uploading;
  model_.unload(task);
  worker_.at(model_.instant(worker_.now()) + run->delays.upload,
             [this, task, attempt] { uploaded(task, attempt); });
}

void ModelExecutor::uploaded(TaskId task, Attempt attempt) {
  Run* run = find(task, attempt);
  if (run == nullptr || run->phase != Phase::uploading) return;
  const Duration upload = run->delays.upload;
  runs_.erase(task);
  worker_.checkpointed(task, attempt, upload, {});
}

void ModelExecutor::done(TaskId task, Attempt attempt) {
  Run* run = find(task, attempt);
  // Work that ends while the stop is under way counts as done.
  if (run == nullptr || (run->phase != Phase::running && run->phase != Phase::stopping)) return;
  runs_.erase(task);
  worker_.finished(task, attempt, {});
}

void ModelExecutor::changed(TaskId task, Attempt attempt) {
  const Run* run = find(task, attempt);
  if (run == nullptr || run->phase != Phase::running) return;
  const std::optional<ReplicaWord> word = model_.replica(task);
  if (!word) return worker_.progressed(task, attempt);
  AttemptMetrics said{{task, {}}, attempt, ReplicaState{}};
  said.replica->ready = word->ready;
  if (word->performance)
    said.said.values.emplace_back(std::string(kPerformanceMetric), *word->performance);
  worker_.reported({std::move(said)});
}

std::vector<ExecutionSample> ModelExecutor::sample() {
  // A map, so that samples come in the order of tasks, equal in every replay.
  std::vector<ExecutionSample> samples;
  for (const auto& [task, run] : runs_) {
    if (run.phase != Phase::running && run.phase != Phase::stopping) continue;
    samples.push_back({task, run.attempt, model_.throughput(task), model_.progress(task)});
  }
  return samples;
}

}  // namespace muster

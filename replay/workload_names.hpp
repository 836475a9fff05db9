#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/event.hpp"
#include "replay/workload/workload.hpp"
#include "workers/execution_model.hpp"

namespace muster::replay {

/// Finds the jobs of a workload by their ids.
class JobIndex {
 public:
  explicit JobIndex(const JobSource& jobs);

  std::size_t of(JobId id) const;

 private:
  const JobSource& jobs_;
  std::vector<std::uint32_t> by_id_;
};

/// The names that readers of a run know its jobs and tasks by: those of the workload. The actors
/// know them by the numbers that sites gave them. The token of a job that is submitted is its id
/// in the workload, as text.
class WorkloadNames {
 public:
  /// The workload has to outlive it.
  explicit WorkloadNames(const JobSource& jobs) : jobs_(jobs), index_(jobs) {}

  static std::string token_of(JobId workload_id) { return std::to_string(workload_id.value); }

  /// Says everything in the event by the workload's names, and learns from it which job a site has
  /// given which number.
  void rename(Event& event);

  /// The place in the workload of the job with that number.
  std::size_t rank(JobId number) const;
  JobId name(JobId number) const { return jobs_.id(rank(number)); }
  TaskId name(TaskId number) const;

 private:
  void learn(const Job& accepted);
  template <class Said>
  void rename_all(std::vector<Said>& of_tasks);

  const JobSource& jobs_;
  JobIndex index_;
  std::vector<std::vector<std::uint32_t>> ranks_;  ///< by site, and by number from 1
};

/// Tasks that workers execute, known to them by numbers and to the model behind by the workload's
/// names.
class NamedModel final : public ExecutionModel {
 public:
  /// Both have to outlive it.
  NamedModel(ExecutionModel& model, const WorkloadNames& names) : model_(model), names_(names) {}

  Instant instant(Instant now) const override { return model_.instant(now); }
  void load(const LoadedTask& task) override {
    LoadedTask named = task;
    named.task = names_.name(task.task);
    model_.load(named);
  }
  void unload(TaskId task) override { model_.unload(names_.name(task)); }
  void lose(TaskId task) override { model_.lose(names_.name(task)); }
  double throughput(TaskId task) const override { return model_.throughput(names_.name(task)); }
  std::optional<ExecutionProgress> progress(TaskId task) const override {
    return model_.progress(names_.name(task));
  }
  std::optional<ReplicaWord> replica(TaskId task) const override {
    return model_.replica(names_.name(task));
  }

 private:
  ExecutionModel& model_;
  const WorkloadNames& names_;
};

}  // namespace muster::replay

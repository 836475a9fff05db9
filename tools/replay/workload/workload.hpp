#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "config/replay_config.hpp"
#include "model/job.hpp"

namespace muster::replay {

/// What the world knows of a job and no scheduler is told.
struct JobTruth {
  double iterations = 0;        ///< the work of a gang or of each task, in the job's own unit
  double iterations_per_s = 1;  ///< pace alone, undisturbed, on a family of speed 1
  std::string interference;     ///< name in the interference model
  /// The work of each task of a job that is no gang; `iterations` is then their mean as the trace
  /// has it. Empty: all tasks are alike.
  std::vector<double> task_iterations = {};

  /// Of task `index` of a job that is no gang.
  double work_of(std::size_t index) const {
    return task_iterations.empty() ? iterations : task_iterations[index];
  }
  /// How long a task takes alone, on average over the job's tasks.
  double mean_task_s() const { return iterations / iterations_per_s; }
};

/// A job, when it is submitted, and what is true of it.
struct WorkloadJob {
  Job job;
  Instant submit;
  JobTruth truth;
};

/// Jobs in the order of submission; task ids are unique over all of them.
struct Workload {
  std::vector<WorkloadJob> jobs;
  std::string description;  ///< where it comes from, with the seed where chance had a part
};

enum class WorkloadError : std::uint8_t { unreadable, malformed, invalid };

/// Reads or makes a workload, and takes from it what the config wants. `seed` matters to synthetic
/// and composed workloads only. The load is not set yet: with_load() does that.
Expected<Workload, WorkloadError> read_workload(const WorkloadConfig& config, std::uint64_t seed);

/// Writes Muster's own workload CSV, from which read_workload gives an equal workload again.
void write_workload_csv(const Workload& workload, std::ostream& out);

}  // namespace muster::replay

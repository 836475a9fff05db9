#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/replay_config.hpp"
#include "model/job.hpp"
#include "replay/workload/elastic_truth.hpp"
#include "replay/workload/left_out.hpp"
#include "replay/workload/service_truth.hpp"

namespace muster::replay {

/// Facts of a job that the world knows and no scheduler is told.
struct JobTruth {
  double iterations = 0;        ///< the work of a gang or of each task, in the job's own unit
  double iterations_per_s = 1;  ///< pace alone, undisturbed, on a family of speed 1
  std::string interference;     ///< name in the interference model
  /// The work of each task of a job that is no gang; `iterations` is then their mean as the trace
  /// has it. Empty: all tasks are alike.
  std::vector<double> task_iterations = {};
  /// Of an elastic job, whose work is then its progress; null: it goes by `iterations` as others.
  std::shared_ptr<const ElasticTruth> elastic = {};
  /// Of a service, whose iterations are the seconds until its user ends it; null: no service.
  std::shared_ptr<const ServiceTruth> service = {};

  /// Of task `index` of a job that is no gang.
  double work_of(std::size_t index) const {
    return task_iterations.empty() ? iterations : task_iterations[index];
  }
  /// How long a task takes alone, on average over the job's tasks.
  double mean_task_s() const { return iterations / iterations_per_s; }
};

/// The time after its submission at which the user of a service ends it.
Duration lifetime_of(const JobTruth& service);

/// A job, when it is submitted, and what is true of it.
struct WorkloadJob {
  Job job;
  Instant submit;
  JobTruth truth;
};

/// Jobs in the order of submission, made when they are asked for; task ids are unique over all of
/// them, and those of a job follow each other.
class JobSource {
 public:
  virtual ~JobSource() = default;

  virtual std::size_t size() const = 0;
  virtual WorkloadJob job(std::size_t index) const = 0;
  virtual JobId id(std::size_t index) const = 0;
  virtual TaskId first_task(std::size_t index) const = 0;
  virtual Instant submit(std::size_t index) const = 0;
  /// Rows that did not become a job.
  virtual const LeftOut& left_out() const = 0;

 protected:
  JobSource() = default;
  JobSource(const JobSource&) = default;
  JobSource(JobSource&&) = default;
  JobSource& operator=(const JobSource&) = default;
  JobSource& operator=(JobSource&&) = default;
};

/// Jobs as they are, for what changes or compares them.
struct Workload : JobSource {
  std::vector<WorkloadJob> jobs;
  std::string description;  ///< where it comes from, with the seed where chance had a part
  LeftOut not_taken;

  std::size_t size() const override { return jobs.size(); }
  WorkloadJob job(std::size_t index) const override { return jobs[index]; }
  JobId id(std::size_t index) const override { return jobs[index].job.id; }
  TaskId first_task(std::size_t index) const override { return jobs[index].job.tasks.at(0).id; }
  Instant submit(std::size_t index) const override { return jobs[index].submit; }
  const LeftOut& left_out() const override { return not_taken; }
};

/// The part that many jobs have in common: all that a JobRow does not have, with one task without
/// an id.
struct JobTemplate {
  Job job;
  std::string interference;
  std::shared_ptr<const ElasticTruth> elastic = {};  ///< of an elastic job
  std::shared_ptr<const ServiceTruth> service = {};  ///< of a service
};

/// A job of a compact workload, whose tasks are alike but for their work.
struct JobRow {
  JobId id;
  Instant submit;
  std::shared_ptr<const JobTemplate> like;
  std::string name;
  std::optional<Duration> runtime_hint;
  double task_hint_factor =
      0;  ///< tasks state their own run times times this; 0: they state nothing
  double iterations = 0;
  double iterations_per_s = 1;
  std::shared_ptr<const std::vector<double>> task_iterations;  ///< null: all tasks are alike
  std::uint64_t first_task = 0;                                ///< id of the first task
  std::uint32_t tasks = 1;
};

/// Jobs in some hundred bytes each, however much they say, as most of it is said by many.
struct CompactWorkload : JobSource {
  std::vector<JobRow> rows;
  std::string description;
  LeftOut not_taken;

  std::size_t size() const override { return rows.size(); }
  WorkloadJob job(std::size_t index) const override;
  JobId id(std::size_t index) const override { return rows[index].id; }
  TaskId first_task(std::size_t index) const override { return TaskId{rows[index].first_task}; }
  Instant submit(std::size_t index) const override { return rows[index].submit; }
  const LeftOut& left_out() const override { return not_taken; }
};

enum class WorkloadError : std::uint8_t { unreadable, malformed, invalid };

/// Reads or makes a workload, and takes from it what the config wants. `seed` matters to synthetic
/// and composed workloads only. The load is not set yet: with_load() does that.
Expected<CompactWorkload, WorkloadError> read_compact_workload(const WorkloadConfig& config,
                                                               std::uint64_t seed);
Expected<Workload, WorkloadError> read_workload(const WorkloadConfig& config, std::uint64_t seed);

/// Writes Muster's own workload CSV, from which read_workload gives an equal workload again.
void write_workload_csv(const Workload& workload, std::ostream& out);

}  // namespace muster::replay

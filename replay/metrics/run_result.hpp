#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/resources.hpp"
#include "replay/metrics/note_figures.hpp"

namespace muster::metrics {

/// One value over time: (hours since the start, value), a step function.
using Series = std::vector<std::pair<double, double>>;

/// Figures of the jobs of one class; JCTs in seconds, as short jobs need them.
struct ClassFigures {
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::optional<double> mean_jct_s, p50_jct_s, p90_jct_s, p99_jct_s;
  std::optional<double> slo_met;  ///< share of the submitted that were completed in time
};

/// GPU-hours that were paid for and that no task held.
struct UnusedGpuHours {
  double starting = 0;    ///< rented, of instances that are not ready
  double remainders = 0;  ///< rented, of instances that some task is on
  double empty = 0;       ///< rented, of instances that are ready and have no task
  double leaving = 0;     ///< after the decision to give the instance back
};

/// GPUs, or GPU-hours.
struct GpuHours {
  double used = 0;    ///< that tasks hold
  double rented = 0;  ///< of instances from the order to the decision to give them back
  double billed = 0;  ///< of instances, as the cloud billed them
};

/// How the services of a run did. Hours are those of replicas, until the users of their services
/// end them.
struct ServiceFigures {
  std::uint64_t submitted = 0;
  std::uint64_t ended = 0;  ///< by their users, when these had meant to
  std::uint64_t replicas = 0;
  std::uint64_t restarts = 0;  ///< starts of a replica but its first one
  double wanted_h = 0;         ///< from the submission on
  double ready_h = 0;
  double goal_wanted_h = 0;  ///< wanted, of services with a goal
  double goal_h = 0;         ///< ready, and the performance is no worse than the goal
  double measured_h = 0;     ///< ready, of services whose performance is known
  double performance_h = 0;  ///< these times the performance
  /// Of services with a goal while they hold resources, by the prices that sizes are compared at.
  double held_usd = 0;
  double right_usd = 0;  ///< if each had the cheapest size that reaches its goal
  double cost_usd = 0;   ///< of the bill, what their replicas held
};

/// GPUs over time, and what elastic jobs make of them.
struct GpuSeries {
  Series used, rented;
  Series efficiency;  ///< where something is rented and all jobs state their speedups
};

/// Results of one run. A figure that has no meaning for the policy is absent. How each is shown
/// stands in the table of metric_table.hpp.
struct RunResult {
  std::string policy;  ///< as it was asked for, parameters included
  std::uint64_t seed = 0;

  std::uint64_t jobs_submitted = 0;
  std::uint64_t jobs_completed = 0;
  double total_cost_usd = 0;
  std::optional<double> tariff_usd;    ///< where each task is billed alone
  std::optional<double> bound_usd;     ///< no policy costs less on this workload; where asked for
  std::optional<double> rented_above;  ///< mean over time of what is rented, over the bound of the
                                       ///< tasks that hold resources, less 1; where asked for
  std::optional<double> mean_jct_h, p50_jct_h, p95_jct_h, p99_jct_h;
  std::optional<double> p50_slowdown, p95_slowdown;   ///< JCT over the job's run alone
  std::optional<ClassFigures> short_jobs, long_jobs;  ///< with a cutoff only
  std::optional<double> makespan_s;         ///< from the first acceptance to the last completion
  std::optional<double> throughput_jobs_h;  ///< completed jobs in that time
  /// Share of what the serving instances have that is held, over that time, by kind of resource.
  std::array<std::optional<double>, kResourceKinds> utilization{};
  std::optional<ServiceFigures> services;      ///< with services only
  std::optional<UnusedGpuHours> gpu_h_unused;  ///< with instances that have some only
  std::optional<double> mean_idle_h;
  std::optional<double> mean_normalized_throughput;
  std::optional<double> tasks_per_instance;
  std::optional<double> allocation_gpu, allocation_cpu, allocation_memory;
  std::optional<GpuHours> gpu_h;                ///< of the run; nothing where no GPU was rented
  std::optional<GpuHours> gpus_while_arriving;  ///< mean, from the first acceptance to the last one
  /// Speedups that elastic jobs have over one worker / GPUs that are rented, both summed over time.
  std::optional<double> efficiency;
  std::optional<double> width_error;  ///< mean over time
  std::uint64_t instances_launched = 0;
  std::uint64_t interruptions = 0;  ///< spot instances that the cloud took back
  double lost_work_h = 0;           ///< of tasks, done and lost
  std::optional<double> migrations_per_task;
  std::uint64_t rounds = 0;
  std::optional<double> decision_ms_mean, decision_ms_p99;  ///< where a policy decided
  NoteFigures notes;                                        ///< of the policy's rounds
  double wall_s = 0;
  std::uint64_t events = 0;
  std::string event_log_sha256;

  /// Figures relative to those of the first policy with the same seed, by their keys.
  std::map<std::string, double, std::less<>> normalized;
  /// Where the money went, in dollars: to tasks, boot, drain, fragmentation, idle. Adds up to the
  /// total.
  std::vector<std::pair<std::string, double>> cost_by_purpose;
  /// Rows of the workload's file that are no jobs of the run, or not all that they say, by why.
  std::map<std::string, std::uint64_t> left_out;
  /// Jobs that did not complete: (job, reason).
  std::vector<std::pair<std::string, std::string>> not_completed;

  // For the plots.
  Series cost_over_time;                            ///< $ so far
  std::map<std::string, Series> instances_by_type;  ///< up, by type name
  std::vector<double> jct_h;                        ///< of every completed job, sorted
  std::vector<double> instance_uptime_h;            ///< of every instance, sorted
  std::array<Series, 3> allocation_over_time;       ///< gpu, cpu, memory: share of capacity
  GpuSeries gpus_over_time;
  /// How far the widths that are planned by what was learnt are from those that are planned by what
  /// jobs state: |width / width stated - 1|, mean over classes and epochs by their load.
  Series width_error_over_time;
};

}  // namespace muster::metrics

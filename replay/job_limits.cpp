#include "replay/job_limits.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "replay/workload_names.hpp"

namespace muster::replay {
namespace {

/// The longest task of each job, alone, in the job's unit of work, and its pace.
struct LongestTask {
  double work = 0;
  double per_s = 1;
};

/// O(tasks): done once for all that is held against it.
std::vector<LongestTask> longest_tasks(const JobSource& jobs) {
  std::vector<LongestTask> longest;
  for (std::size_t rank = 0; rank < jobs.size(); ++rank) {
    const WorkloadJob job = jobs.job(rank);
    LongestTask& own = longest.emplace_back(LongestTask{0, job.truth.iterations_per_s});
    for (std::size_t i = 0; i < job.job.tasks.size(); ++i) {
      // A job of parallel tasks takes at least as long as its longest task, alone.
      own.work = std::max(own.work, job.truth.work_of(i));
    }
  }
  return longest;
}

/// Multiples of the time that each job takes alone; nothing without a factor.
std::function<Duration(JobId)> time_allowed(const JobSource& jobs,
                                            const std::vector<LongestTask>& longest,
                                            double factor) {
  if (factor <= 0) return {};
  std::vector<Duration> allowed;
  for (const LongestTask& task : longest) {
    allowed.push_back(from_seconds(factor * task.work / task.per_s));
  }
  return [index = JobIndex(jobs), allowed = std::move(allowed)](JobId id) {
    return allowed[index.of(id)];
  };
}

/// Says which jobs are longer than the cutoff (equal ones are not); nothing without a cutoff.
std::function<bool(JobId)> long_jobs(const JobSource& jobs, double cutoff_s) {
  if (cutoff_s <= 0) return {};
  std::vector<bool> is_long;
  for (std::size_t rank = 0; rank < jobs.size(); ++rank) {
    is_long.push_back(jobs.job(rank).truth.mean_task_s() > cutoff_s);
  }
  return [index = JobIndex(jobs), is_long = std::move(is_long)](JobId id) {
    return is_long[index.of(id)];
  };
}

/// Cost of all tasks at the tariff; nothing without a tariff.
std::optional<double> cost_at(const TariffConfig& tariff, const JobSource& jobs) {
  if (tariff.cpu_usd_h <= 0 && tariff.memory_gib_usd_h <= 0) return std::nullopt;
  double usd = 0;
  for (std::size_t rank = 0; rank < jobs.size(); ++rank) {
    const WorkloadJob job = jobs.job(rank);
    for (std::size_t i = 0; i < job.job.tasks.size(); ++i) {
      const auto& entries = job.job.tasks[i].demands.entries();
      if (entries.empty()) continue;
      const Resources& asked = entries.front().amount;
      const double hours = job.truth.work_of(i) / job.truth.iterations_per_s / 3600;
      usd += hours * (asked[Resource::cpu] * tariff.cpu_usd_h +
                      asked[Resource::memory] * tariff.memory_gib_usd_h);
    }
  }
  return usd;
}

}  // namespace

metrics::MeasureOptions job_limits(const JobSource& jobs, const ReplayConfig& config) {
  metrics::MeasureOptions options;
  options.is_long = long_jobs(jobs, config.workload.cutoff_s);
  const std::vector<LongestTask> longest = longest_tasks(jobs);
  options.slo = time_allowed(jobs, longest, config.workload.slo_factor);
  options.alone = time_allowed(jobs, longest, 1);
  options.tariff_usd = cost_at(config.tariff, jobs);
  return options;
}

}  // namespace muster::replay

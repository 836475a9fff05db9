#include "tools/replay/job_limits.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "tools/replay/workload_names.hpp"

namespace muster::replay {
namespace {

/// How long each job may take; nothing without a factor.
std::function<Duration(JobId)> time_allowed(const JobSource& jobs, double factor) {
  if (factor <= 0) return {};
  std::vector<Duration> allowed;
  for (std::size_t rank = 0; rank < jobs.size(); ++rank) {
    const WorkloadJob job = jobs.job(rank);
    double longest = 0;
    for (std::size_t i = 0; i < job.job.tasks.size(); ++i) {
      // A job of parallel tasks takes at least as long as its longest task, alone.
      longest = std::max(longest, job.truth.work_of(i));
    }
    allowed.push_back(from_seconds(factor * longest / job.truth.iterations_per_s));
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

}  // namespace

metrics::MeasureOptions job_limits(const JobSource& jobs, const WorkloadConfig& config) {
  metrics::MeasureOptions options;
  options.is_long = long_jobs(jobs, config.cutoff_s);
  options.slo = time_allowed(jobs, config.slo_factor);
  return options;
}

}  // namespace muster::replay

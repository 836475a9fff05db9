#include "schedulers/site/split.hpp"

#include <algorithm>
#include <utility>

// Parts are formed so that no master has to know of the others: tasks, and the right to have tasks
// in flight, are shared out beforehand.

namespace muster {

std::vector<Job> split_job(Job job, std::uint32_t most_parts) {
  std::size_t count = std::min<std::size_t>(most_parts, job.tasks.size());
  // A part with no task in flight could never run: there are no more parts than may run at once.
  if (job.max_running > 0) count = std::min<std::size_t>(count, job.max_running);
  // One master answers for a service: it bounds how few of the replicas are ready at a time.
  if (job.gang || job.service() != nullptr || count <= 1) {
    std::vector<Job> whole;
    whole.push_back(std::move(job));
    return whole;
  }
  std::vector<TaskSpec> tasks = std::exchange(job.tasks, {});
  const std::uint32_t in_flight = std::exchange(job.max_running, 0);
  // Tells a part from a whole job, for which it is 0.
  job.total_tasks = static_cast<std::uint32_t>(tasks.size());
  std::vector<Job> parts(count, job);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    parts[i % count].tasks.push_back(std::move(tasks[i]));
  }
  const auto n = static_cast<std::uint32_t>(count);
  // Shares differ by one at most and add up to the job's own bound.
  for (std::uint32_t i = 0; in_flight > 0 && i < n; ++i) {
    parts[i].max_running = in_flight / n + (i < in_flight % n ? 1 : 0);
  }
  return parts;
}

}  // namespace muster

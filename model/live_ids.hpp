#pragma once

#include <cstdint>
#include <vector>

#include "model/job.hpp"
#include "model/number_set.hpp"

namespace muster {

// How ids are made where several sites and masters make them without asking each other. Numbers
// stay readable: the first site's jobs are 1, 2, 3, the second one's 1,000,000,001 and so on.

inline constexpr std::uint64_t kIdBlock = 1'000'000'000;
inline constexpr std::uint32_t kTaskIndexBits = 20;  ///< a job has fewer than 2^20 tasks

/// The `number`-th job (from 1) of a site.
constexpr JobId job_id_of(std::uint32_t site, std::uint64_t number) {
  return JobId{site * kIdBlock + number};
}
constexpr std::uint64_t number_of(JobId id) {
  return id.value % kIdBlock;
}
/// The site that has numbered the job.
constexpr std::uint32_t site_of(JobId id) {
  return static_cast<std::uint32_t>(id.value / kIdBlock);
}

/// Of all these jobs the one with the highest number of each site that has numbered any.
inline std::vector<JobId> newest_of_sites(const NumberSet& jobs) {
  std::vector<JobId> newest;
  auto next = jobs.highest_below(UINT64_MAX);
  for (; next; next = jobs.highest_below(site_of(JobId{*next}) * kIdBlock)) {
    newest.push_back(JobId{*next});
  }
  return newest;
}

/// The task at a position of a job.
constexpr TaskId task_id_of(JobId job, std::uint32_t position) {
  return TaskId{(job.value << kTaskIndexBits) | position};
}
constexpr JobId job_of(TaskId id) {
  return JobId{id.value >> kTaskIndexBits};
}
constexpr std::uint32_t position_of(TaskId id) {
  return static_cast<std::uint32_t>(id.value & ((1U << kTaskIndexBits) - 1));
}

/// Gives the job its number, and its tasks theirs.
inline void number_job(Job& job, JobId id) {
  job.id = id;
  for (std::uint32_t i = 0; i < job.tasks.size(); ++i) job.tasks[i].id = task_id_of(id, i);
}

/// The first instance number of a master.
constexpr std::uint64_t first_instance_of(std::uint32_t master) {
  return master * kIdBlock + 1;
}
constexpr std::uint32_t master_of(InstanceId id) {
  return static_cast<std::uint32_t>(id.value / kIdBlock);
}

}  // namespace muster

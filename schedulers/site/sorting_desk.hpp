#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "learning/job_sorter.hpp"

namespace muster {

/// Sorts a site's jobs as they come in, and learns from what is heard of them later: the sorter
/// with a memory of what it was shown.
class SortingDesk {
 public:
  /// So many jobs with so many tasks are remembered until they are over; when more are open, the
  /// oldest are forgotten first.
  static constexpr std::size_t kMaxOpen = 10'000;
  static constexpr std::size_t kMaxOpenTasks = 1'000'000;

  explicit SortingDesk(JobSorter sorter) : sorter_(std::move(sorter)) {}

  /// Writes into the job what is expected of it (HCoop, Algorithm 3), and remembers it.
  Classification sort(Job& job, const SystemUse& use);

  /// Some of the job's tasks have run, together for so long. With the last of them it is learnt
  /// from.
  void heard(JobId id, std::uint32_t tasks, Duration together);
  /// The job will not be completed: there is nothing to learn.
  void forget(JobId id);

  JobSorter& sorter() { return sorter_; }
  const JobSorter& sorter() const { return sorter_; }
  /// Jobs sorted as short, and all.
  std::uint64_t shorts() const { return shorts_; }
  std::uint64_t sorted() const { return sorted_; }

 private:
  struct Open {
    std::uint64_t age = 0;
    Job job;
    SystemUse use;
    std::uint32_t tasks = 0;  ///< that have been heard of
    Duration together{};
  };

  JobSorter sorter_;
  std::map<JobId, Open> open_;
  std::map<std::uint64_t, JobId> by_age_;  ///< of the open ones, oldest first
  std::size_t open_tasks_ = 0;
  std::uint64_t shorts_ = 0;
  std::uint64_t sorted_ = 0;
};

}  // namespace muster

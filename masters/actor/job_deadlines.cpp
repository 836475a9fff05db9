#include "masters/actor/job_deadlines.hpp"

#include <cstddef>

namespace muster {

void JobDeadlines::recall() {
  for (const JobRow& row : master_.state().jobs()) {
    if (row.job.deadline) add(row.job.id, *row.job.deadline);
  }
}

void JobDeadlines::add(JobId job, Instant deadline) {
  if (!deadlines_.emplace(job, deadline).second) return;
  due_.emplace(deadline, job);
  alarm_.at(due_.begin()->first);
}

void JobDeadlines::drop(JobId job) {
  const auto found = deadlines_.find(job);
  if (found == deadlines_.end()) return;
  due_.erase({found->second, job});
  deadlines_.erase(found);
}

/// Some at a time: others are heard between.
void JobDeadlines::look() {
  constexpr std::size_t kTasksAtOnce = 2'000;
  const Instant now = host_.now();
  std::size_t ended = 0;
  while (!due_.empty() && due_.begin()->first <= now && ended < kTasksAtOnce) {
    const JobId job = due_.begin()->second;
    const JobRow* row = master_.state().find(job);
    ended += 1 + (row == nullptr ? 0 : row->tasks.size());
    drop(job);
    master_.cancel(job, host_.stamp(), JobOutcome::expired);
  }
  if (!due_.empty()) alarm_.at(due_.begin()->first);
  if (ended == 0) return;
  host_.commit();
  host_.want_round();
}

}  // namespace muster

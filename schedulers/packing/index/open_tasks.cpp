#include "schedulers/packing/index/open_tasks.hpp"

#include <numeric>

// Ended tasks stay ended: once one was met, all later walks jump over it. The jumps are made longer
// as they are taken (path halving), so that a walk costs what is open and little more.

namespace muster {

WideJob::WideJob(const JobRow& job, const ClusterState& state)
    : id_(job.job.id), next_(job.tasks.size() + 1) {
  std::iota(next_.begin(), next_.end(), 0U);
  const ShapeId shape = state.task(job.tasks.front()).shape;
  for (const Slot slot : job.tasks) alike_ = alike_ && state.task(slot).shape == shape;
}

std::uint32_t WideJob::open_from(std::uint32_t position, const JobRow& job,
                                 const ClusterState& state) {
  const auto end = static_cast<std::uint32_t>(job.tasks.size());
  while (position < end) {
    std::uint32_t& next = next_[position];
    if (next != position) {
      next = next_[next];
      position = next;
      continue;
    }
    const TaskPhase phase = state.task(job.tasks[position]).phase;
    if (phase != TaskPhase::finished && phase != TaskPhase::failed) return position;
    next = ++position;
  }
  return end;
}

WideJob* WideJobs::find(const JobRow& job, const ClusterState& state) {
  if (job.tasks.size() < kWide) return nullptr;
  auto known = jobs_.find(job.slot);
  // Slots are used again: the id says whether the entry is of this job.
  if (known != jobs_.end() && known->second.id() != job.job.id) {
    jobs_.erase(known);
    known = jobs_.end();
  }
  if (known == jobs_.end()) known = jobs_.emplace(job.slot, WideJob(job, state)).first;
  known->second.is_used = true;
  return &known->second;
}

void WideJobs::end_round() {
  std::erase_if(jobs_, [](const auto& entry) { return !entry.second.is_used; });
  for (auto& [slot, job] : jobs_) job.is_used = false;
}

}  // namespace muster

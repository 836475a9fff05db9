#include "masters/tasks/open_jobs.hpp"

namespace muster {

void OpenJobs::before(const Event& event, const MasterFacts& facts) {
  const auto* finished = std::get_if<JobFinished>(&event.body);
  if (finished == nullptr) return;
  // Its place is known by the row, which is gone afterwards.
  const JobRow* row = facts.state.find(finished->job);
  if (row != nullptr) places_.erase(list_place(row->job));
}

void OpenJobs::after(const Event& event, const MasterFacts& facts) {
  const auto* accepted = std::get_if<JobAccepted>(&event.body);
  if (accepted == nullptr) return;
  const JobRow* row = facts.state.find(accepted->job.id);
  if (row != nullptr) places_.emplace(list_place(row->job), row->slot);
}

void OpenJobs::restored(const MasterFacts& facts) {
  places_.clear();
  for (const JobRow& row : facts.state.jobs()) places_.emplace(list_place(row.job), row.slot);
}

}  // namespace muster

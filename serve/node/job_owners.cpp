#include "serve/node/job_owners.hpp"

namespace muster {

void JobOwners::add(JobId job, const std::string& user) {
  const std::lock_guard lock(mutex_);
  // A submission that is repeated has the job that it had: its place stays the first one.
  if (users_.insert_or_assign(job, user).second) oldest_first_.push_back(job);
  if (users_.size() <= most_) return;
  users_.erase(oldest_first_.front());
  oldest_first_.pop_front();
}

std::optional<std::string> JobOwners::find(JobId job) const {
  const std::lock_guard lock(mutex_);
  const auto found = users_.find(job);
  return found == users_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace muster

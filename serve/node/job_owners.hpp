#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "model/ids.hpp"

namespace muster {

/// Whose the newest jobs are that this node's site has taken from its API: known also while those
/// who have the jobs now are silent. Any thread may call it.
class JobOwners {
 public:
  explicit JobOwners(std::size_t most = 100'000) : most_(most) {}

  /// A number that its site gives out once more is that of the newer job.
  void add(JobId job, const std::string& user);
  std::optional<std::string> find(JobId job) const;

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::map<JobId, std::string> users_;
  std::deque<JobId> oldest_first_;
};

}  // namespace muster

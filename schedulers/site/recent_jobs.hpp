#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "model/ids.hpp"

namespace muster {

/// The jobs that were added last, whatever their numbers.
class RecentJobs {
 public:
  explicit RecentJobs(std::size_t most) : most_(most) {}

  /// False when the job is among them already. The oldest one goes when there are too many.
  bool add(JobId job) {
    if (!ages_.try_emplace(job, next_).second) return false;
    by_age_[next_++] = job;
    if (by_age_.size() > most_) erase(by_age_.begin()->second);
    return true;
  }
  void erase(JobId job) {
    const auto found = ages_.find(job);
    if (found == ages_.end()) return;
    by_age_.erase(found->second);
    ages_.erase(found);
  }
  bool contains(JobId job) const { return ages_.contains(job); }
  std::size_t size() const { return by_age_.size(); }
  std::vector<JobId> oldest_first() const {
    std::vector<JobId> jobs;
    jobs.reserve(by_age_.size());
    for (const auto& [age, job] : by_age_) jobs.push_back(job);
    return jobs;
  }

 private:
  std::size_t most_;
  std::uint64_t next_ = 0;  ///< counts what came in
  std::map<JobId, std::uint64_t> ages_;
  std::map<std::uint64_t, JobId> by_age_;
};

}  // namespace muster

#pragma once

#include <cstddef>
#include <deque>
#include <set>

#include "model/ids.hpp"

namespace muster {

/// The jobs that were added last, whatever their numbers.
class RecentJobs {
 public:
  explicit RecentJobs(std::size_t most) : most_(most) {}

  /// False when the job is among them already. The oldest one goes when there are too many.
  bool add(JobId job) {
    if (!jobs_.insert(job).second) return false;
    by_age_.push_back(job);
    if (by_age_.size() > most_) {
      jobs_.erase(by_age_.front());
      by_age_.pop_front();
    }
    return true;
  }
  std::size_t size() const { return by_age_.size(); }

 private:
  std::size_t most_;
  std::set<JobId> jobs_;
  std::deque<JobId> by_age_;
};

}  // namespace muster

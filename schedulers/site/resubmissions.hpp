#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

#include "model/ids.hpp"

namespace muster {

/// Jobs that were submitted again, and their newest resubmissions; the newest kMost of them. O(log)
/// for each.
class Resubmissions {
 public:
  static constexpr std::size_t kMost = 10'000;

  void note(JobId failed, JobId again) {
    if (again_.insert_or_assign(failed, again).second) order_.push_back(failed);
    if (order_.size() <= kMost) return;
    again_.erase(order_.front());
    order_.pop_front();
  }
  /// Not valid: it is not known to have been submitted again.
  JobId of(JobId failed) const {
    const auto known = again_.find(failed);
    return known == again_.end() ? JobId{} : known->second;
  }
  /// The job, and earlier resubmissions of it than `again`: users may know the first number alone,
  /// so that jobs that wait for one of these wait for `again`, too.
  std::vector<JobId> known_as(JobId failed, JobId again) const {
    constexpr std::size_t kMostLinks = 100;
    std::vector<JobId> all{failed};
    for (JobId next = of(failed); next.valid() && all.size() < kMostLinks; next = of(next)) {
      if (next != again) all.push_back(next);
    }
    return all;
  }

 private:
  std::map<JobId, JobId> again_;
  std::deque<JobId> order_;  ///< of these the first jobs, oldest first
};

}  // namespace muster

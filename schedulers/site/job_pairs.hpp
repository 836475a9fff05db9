#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "model/ids.hpp"

namespace muster {

/// Pairs of a job and one that waits for it, by the first. O(log of all) for each pair.
class JobPairs {
 public:
  void add(JobId other, JobId job) { pairs_.emplace(other, job); }
  /// False: there was no such pair.
  bool erase(JobId other, JobId job) { return pairs_.erase({other, job}) > 0; }
  bool contains(JobId other, JobId job) const { return pairs_.contains({other, job}); }
  bool any(JobId other) const {
    const auto first = pairs_.lower_bound({other, JobId{0}});
    return first != pairs_.end() && first->first == other;
  }
  /// Those that wait for the job, by rising numbers, as many at most.
  std::vector<JobId> of(JobId other, std::size_t most = SIZE_MAX) const {
    std::vector<JobId> jobs;
    for (auto it = pairs_.lower_bound({other, JobId{0}});
         it != pairs_.end() && it->first == other && jobs.size() < most; ++it) {
      jobs.push_back(it->second);
    }
    return jobs;
  }
  /// The jobs that others wait for, each once: those after that one (not valid: all), as many at
  /// most.
  std::vector<JobId> others(JobId after = {}, std::size_t most = SIZE_MAX) const {
    constexpr JobId kLast{std::numeric_limits<std::uint64_t>::max()};
    std::vector<JobId> jobs;
    auto it = after.valid() ? pairs_.upper_bound({after, kLast}) : pairs_.begin();
    for (; it != pairs_.end() && jobs.size() < most; it = pairs_.upper_bound({it->first, kLast})) {
      jobs.push_back(it->first);
    }
    return jobs;
  }
  std::size_t size() const { return pairs_.size(); }
  bool empty() const { return pairs_.empty(); }

 private:
  std::set<std::pair<JobId, JobId>> pairs_;
};

}  // namespace muster

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "model/job.hpp"
#include "model/job_cursor.hpp"

namespace muster {

/// The jobs, or parts of jobs, that are on their way to one master or site, in the order in which
/// they came; an entry has a `job`. No call walks past entries that were not asked for.
template <class Entry>
class HandoffQueue {
 public:
  std::size_t size() const { return by_age_.size(); }
  bool empty() const { return by_age_.empty(); }

  /// False, and nothing changes, when the job is in it already.
  bool push(Entry entry) {
    if (!ages_.emplace(entry.job.id, next_).second) return false;
    listed_.emplace(list_place(entry.job), next_);
    by_age_.emplace(next_++, std::move(entry));
    return true;
  }
  /// Null when it is not in it.
  Entry* find(JobId job) {
    const auto age = ages_.find(job);
    return age == ages_.end() ? nullptr : &by_age_.at(age->second);
  }
  const Entry* find(JobId job) const {
    const auto age = ages_.find(job);
    return age == ages_.end() ? nullptr : &by_age_.at(age->second);
  }
  /// Takes the job out; nothing when it is not in it.
  std::optional<Entry> take(JobId job) {
    const auto age = ages_.find(job);
    if (age == ages_.end()) return std::nullopt;
    const auto place = by_age_.find(age->second);
    listed_.erase(list_place(place->second.job));
    std::optional<Entry> entry(std::move(place->second));
    by_age_.erase(place);
    ages_.erase(age);
    return entry;
  }
  /// Calls `use` for the entries, the oldest first, until it says false.
  template <class Use>
  void oldest_first(Use use) {
    for (auto& [age, entry] : by_age_) {
      if (!use(entry)) return;
    }
  }
  /// Likewise, for those that come later in lists than a place, in the order of lists.
  template <class Use>
  void listed(const JobPlace& below, Use use) const {
    auto it = listed_.lower_bound(below);
    while (it != listed_.begin()) {
      --it;
      if (!use(by_age_.at(it->second))) return;
    }
  }

 private:
  std::uint64_t next_ = 0;
  /// Three indexes, so that verdicts (by job), batches (by age) and lists each cost O(log n) an
  /// entry.
  std::map<std::uint64_t, Entry> by_age_;
  std::map<JobId, std::uint64_t> ages_;
  std::map<JobPlace, std::uint64_t> listed_;
};

}  // namespace muster

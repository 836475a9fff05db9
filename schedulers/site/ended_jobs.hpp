#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "model/job_cursor.hpp"
#include "storage/stores/site_store.hpp"

namespace muster {

/// The jobs, and parts of jobs, that ended at a site because no master took them. As many as its
/// store keeps; the oldest go first. How they ended it knows for good.
class EndedJobs {
 public:
  explicit EndedJobs(std::size_t most) : most_(most) {}

  // Several parts of one job may end here, so that ages_ holds more than one age of a job.
  void add(EndedHandoff ended) {
    if (!ended.conflict) past_[ended.outcome].add(ended.job.id.value);
    ages_.emplace(ended.job.id, next_);
    listed_.emplace(list_place(ended.job), next_);
    whole_ += is_whole(ended);
    by_age_.emplace(next_++, std::move(ended));
    if (by_age_.size() > most_) drop_oldest();
  }
  bool contains(JobId job) const { return ages_.contains(job); }
  /// Those that ended before the ones that are added.
  void recall(PastEnds past) { past_ = std::move(past); }
  /// How the job, or a part of it, ended here, however long ago; nothing: it did not.
  std::optional<JobOutcome> outcome_of(JobId job) const {
    for (const auto& [outcome, jobs] : past_) {
      if (jobs.contains(job.value)) return outcome;
    }
    return std::nullopt;
  }
  /// Calls `use` for the parts of the job.
  template <class Use>
  void parts_of(JobId job, Use use) const {
    const auto [from, to] = ages_.equal_range(job);
    for (auto it = from; it != to; ++it) use(by_age_.at(it->second));
  }
  /// Calls `use` for the parts of jobs that come later in lists than a place, in the order of
  /// lists, until it says false.
  template <class Use>
  void listed(const JobPlace& below, Use use) const {
    auto it = listed_.lower_bound(below);
    while (it != listed_.begin()) {
      --it;
      if (!use(by_age_.at(it->second))) return;
    }
  }
  std::size_t size() const { return by_age_.size(); }
  /// Those that are no parts of a job that masters have, too.
  std::size_t whole_jobs() const { return whole_; }

 private:
  static bool is_whole(const EndedHandoff& one) { return one.job.total_tasks == 0; }
  void drop_oldest() {
    const auto oldest = by_age_.begin();
    drop(ages_, oldest->second.job.id, oldest->first);
    drop(listed_, list_place(oldest->second.job), oldest->first);
    whole_ -= is_whole(oldest->second);
    by_age_.erase(oldest);
  }
  /// Of the job's parts only the one of this age goes.
  template <class Key>
  static void drop(std::multimap<Key, std::uint64_t>& from, const Key& key, std::uint64_t age) {
    const auto [begin, end] = from.equal_range(key);
    for (auto it = begin; it != end; ++it) {
      if (it->second != age) continue;
      from.erase(it);
      return;
    }
  }

  std::size_t most_;
  std::uint64_t next_ = 0;
  std::size_t whole_ = 0;
  std::map<std::uint64_t, EndedHandoff> by_age_;
  std::multimap<JobId, std::uint64_t> ages_;
  std::multimap<JobPlace, std::uint64_t> listed_;
  PastEnds past_;
};

}  // namespace muster

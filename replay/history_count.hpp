#pragma once

#include <iterator>
#include <map>
#include <utility>

#include "storage/stores/history.hpp"

namespace muster::replay {

/// The history of a replayed master: the jobs that are over are counted, not kept. Their numbers
/// are known as ranges, of which there are no more than there are unfinished jobs among them.
class HistoryCount final : public History {
 public:
  void add(JobHistory job) override {
    const std::uint64_t id = job.job.id.value;
    auto after = last_of_.upper_bound(id);
    if (after != last_of_.begin() && std::prev(after)->second >= id) return;
    ++count_;
    auto range = after;
    if (after != last_of_.begin() && std::prev(after)->second + 1 == id) {
      range = std::prev(after);
      range->second = id;
    } else {
      range = last_of_.emplace_hint(after, id, id);
    }
    if (after == last_of_.end() || after->first != id + 1) return;
    range->second = after->second;
    last_of_.erase(after);
  }
  std::size_t size() const override { return count_; }
  /// Knows of a job that is over that it is, and nothing else.
  std::optional<JobHistory> find(JobId id) const override {
    const auto after = last_of_.upper_bound(id.value);
    if (after == last_of_.begin() || std::prev(after)->second < id.value) return std::nullopt;
    JobHistory known;
    known.job.id = id;
    return known;
  }
  void newest(std::size_t, const std::function<bool(const JobHistory&)>&) const override {}

 private:
  std::map<std::uint64_t, std::uint64_t> last_of_;  ///< of each range, by its first
  std::size_t count_ = 0;
};

}  // namespace muster::replay

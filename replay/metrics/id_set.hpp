#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace muster::metrics {

/// A set of numbers that takes memory by its runs: ids are given out in order, so those of what is
/// over are a few long runs.
class IdSet {
 public:
  void add(std::uint64_t id) {
    auto next = runs_.upper_bound(id);
    auto run = next == runs_.begin() ? runs_.end() : std::prev(next);
    if (run != runs_.end() && id <= run->second) return;
    if (run != runs_.end() && run->second + 1 == id) {
      run->second = id;
    } else {
      run = runs_.emplace_hint(next, id, id);
    }
    // The id has closed the gap between two runs.
    if (next != runs_.end() && next->first == id + 1) {
      run->second = next->second;
      runs_.erase(next);
    }
  }
  bool contains(std::uint64_t id) const {
    const auto next = runs_.upper_bound(id);
    return next != runs_.begin() && id <= std::prev(next)->second;
  }
  std::size_t runs() const { return runs_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> runs_;  ///< first and last of each
};

}  // namespace muster::metrics

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

namespace muster {

/// Array indices from the first to the last.
struct IndexRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

/// A set of array indices. It takes room for each gap between them, and not for each index.
class IndexRanges {
 public:
  /// O(log of the ranges), and of those that become a part of it.
  void add(IndexRange more) {
    auto next = ranges_.upper_bound(more.first);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->second >= more.first || before->second + 1 == more.first) next = before;
    }
    while (next != ranges_.end() && (next->first <= more.last || next->first - 1 == more.last)) {
      more.first = std::min(more.first, next->first);
      more.last = std::max(more.last, next->second);
      next = ranges_.erase(next);
    }
    ranges_.emplace(more.first, more.last);
  }
  void add(const std::vector<IndexRange>& more) {
    for (const IndexRange& each : more) add(each);
  }
  bool contains(std::uint32_t index) const {
    const auto after = ranges_.upper_bound(index);
    return after != ranges_.begin() && std::prev(after)->second >= index;
  }
  bool empty() const { return ranges_.empty(); }
  /// How many ranges they are.
  std::size_t size() const { return ranges_.size(); }
  /// Ascending and apart; the first `most` of them.
  std::vector<IndexRange> list(std::size_t most = SIZE_MAX) const {
    std::vector<IndexRange> list;
    for (auto it = ranges_.begin(); it != ranges_.end() && list.size() < most; ++it) {
      list.push_back({it->first, it->second});
    }
    return list;
  }

  /// The indices that are in both.
  friend IndexRanges common(const IndexRanges& a, const IndexRanges& b) {
    IndexRanges both;
    auto left = a.ranges_.begin(), right = b.ranges_.begin();
    while (left != a.ranges_.end() && right != b.ranges_.end()) {
      const std::uint32_t first = std::max(left->first, right->first);
      const std::uint32_t last = std::min(left->second, right->second);
      if (first <= last) both.ranges_.emplace_hint(both.ranges_.end(), first, last);
      left->second < right->second ? ++left : ++right;
    }
    return both;
  }
  /// The indices of `a` that are not in `b`.
  friend IndexRanges without(const IndexRanges& a, const IndexRanges& b) {
    IndexRanges rest;
    for (const auto& [first, last] : a.ranges_) {
      std::uint64_t from = first;
      auto cut = b.ranges_.upper_bound(first);
      if (cut != b.ranges_.begin()) --cut;
      for (; cut != b.ranges_.end() && cut->first <= last && from <= last; ++cut) {
        if (cut->second < from) continue;
        if (cut->first > from) {
          rest.ranges_.emplace_hint(rest.ranges_.end(), static_cast<std::uint32_t>(from),
                                    cut->first - 1);
        }
        from = std::uint64_t{cut->second} + 1;
      }
      if (from <= last) {
        rest.ranges_.emplace_hint(rest.ranges_.end(), static_cast<std::uint32_t>(from), last);
      }
    }
    return rest;
  }
  friend bool operator==(const IndexRanges&, const IndexRanges&) = default;

 private:
  std::map<std::uint32_t, std::uint32_t> ranges_;  ///< the last of each by the first
};

}  // namespace muster

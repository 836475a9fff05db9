#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/check.hpp"

namespace muster {

/// A map by number that holds a bounded number of values: a new one takes the place of the one that
/// was touched longest ago.
template <class Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t capacity) : capacity_(capacity) {
    MUSTER_CHECK(capacity > 0, "a map has room for something");
  }

  std::size_t size() const { return values_.size(); }
  std::size_t capacity() const { return capacity_; }

  /// Null when it is absent.
  const Value* find(std::uint64_t key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second.value;
  }

  /// The value, made when it is absent; now the one touched last.
  Value& touch(std::uint64_t key) {
    const auto [at, is_new] = values_.try_emplace(key);
    if (is_new && values_.size() > capacity_) {
      // The new one is not in order_ yet, so that it cannot be the one that goes.
      values_.erase(order_.begin()->second);
      order_.erase(order_.begin());
    }
    if (!is_new) order_.erase(at->second.touched);
    at->second.touched = next_;
    order_.emplace(next_++, key);
    return at->second.value;
  }

  /// Calls `use` with every key and value, the one touched longest ago first.
  template <class Use>
  void each(const Use& use) const {
    for (const auto& [touched, key] : order_) use(key, values_.at(key).value);
  }

 private:
  struct Entry {
    Value value{};
    std::uint64_t touched = 0;
  };

  std::size_t capacity_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Entry> values_;
  std::map<std::uint64_t, std::uint64_t> order_;  ///< key, by when it was touched
};

}  // namespace muster

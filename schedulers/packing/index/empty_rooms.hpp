#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "schedulers/packing/rules.hpp"

namespace muster {

/// Rooms that stand empty, in the order of their numbers. A peer may have still to leave one.
class EmptyRooms {
 public:
  void add(std::uint32_t room) { open_.insert(room); }
  /// It has to be the one that was found last.
  void take(std::uint32_t room) { open_.erase(room); }
  bool empty() const { return open_.empty() && aside_.empty(); }
  /// The first that the task may join. Each one is passed by once while the rule's jobs ask.
  std::optional<std::uint32_t> first(const RoomRule& may_join) {
    if (aside_for_ != may_join.jobs()) {
      open_.insert(aside_.begin(), aside_.end());
      aside_.clear();
      aside_for_ = may_join.jobs();
    }
    while (may_join && !open_.empty() && !may_join(*open_.begin())) {
      aside_.push_back(*open_.begin());
      open_.erase(open_.begin());
    }
    return open_.empty() ? std::nullopt : std::optional(*open_.begin());
  }

 private:
  std::set<std::uint32_t> open_;
  std::vector<std::uint32_t> aside_;
  std::vector<Slot> aside_for_;
};

}  // namespace muster

#pragma once

#include <algorithm>
#include <vector>

#include "model/check.hpp"
#include "model/slot_list.hpp"

// How the cluster state's tables and their lists are kept.

namespace muster {

/// A slot for a row: one that is free, else a new one at the end.
template <class Row>
Slot new_row(std::vector<Row>& rows, std::vector<Slot>& free) {
  if (free.empty()) {
    rows.emplace_back();
    return static_cast<Slot>(rows.size() - 1);
  }
  const Slot slot = free.back();
  free.pop_back();
  return slot;
}

/// The slot of a row that has to be there.
template <class Map, class Id>
Slot slot_of(const Map& slots, Id id) {
  const auto found = slots.find(id);
  MUSTER_CHECK(found != slots.end(), "an event speaks of something the state does not know");
  return found->second;
}

/// Takes a task off an instance's list that it has to be on.
inline void erase_value(std::vector<Slot>& list, Slot slot) {
  const auto found = std::find(list.begin(), list.end(), slot);
  MUSTER_CHECK(found != list.end(), "the task is not on the instance's list");
  list.erase(found);
}

}  // namespace muster

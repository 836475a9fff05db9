#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "model/check.hpp"

namespace muster {

/// Position of a row in one of the cluster state's tables; stable while the row lives.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

/// A row's neighbours in one list.
struct SlotLinks {
  Slot prev = kNoSlot;
  Slot next = kNoSlot;
  bool linked = false;
};

/// An ordered list through the rows of a table: append and remove in constant time, no allocation.
template <class Row, SlotLinks Row::*kLinks>
class SlotList {
 public:
  void append(std::vector<Row>& rows, Slot slot) {
    SlotLinks& links = rows[slot].*kLinks;
    MUSTER_CHECK(!links.linked, "a row is in a list only once");
    links = {.prev = last_, .next = kNoSlot, .linked = true};
    if (last_ != kNoSlot) (rows[last_].*kLinks).next = slot;
    if (first_ == kNoSlot) first_ = slot;
    last_ = slot;
    ++size_;
  }

  void remove(std::vector<Row>& rows, Slot slot) {
    SlotLinks& links = rows[slot].*kLinks;
    MUSTER_CHECK(links.linked, "only a row of the list can be removed");
    // The neighbour's link, or the list's own end where there is no neighbour.
    (links.prev == kNoSlot ? first_ : (rows[links.prev].*kLinks).next) = links.next;
    (links.next == kNoSlot ? last_ : (rows[links.next].*kLinks).prev) = links.prev;
    links = {};
    --size_;
  }

  Slot first() const { return first_; }
  Slot last() const { return last_; }
  std::size_t size() const { return size_; }

 private:
  Slot first_ = kNoSlot;
  Slot last_ = kNoSlot;
  std::size_t size_ = 0;
};

/// The rows of a list, in its order, for a range-based for.
template <class Row, SlotLinks Row::*kLinks>
class SlotRange {
 public:
  SlotRange(const std::vector<Row>& rows, Slot first, std::size_t size)
      : rows_(&rows), first_(first), size_(size) {}

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Row;
    using reference = const Row&;
    using pointer = const Row*;
    using iterator_category = std::forward_iterator_tag;

    Iterator() = default;
    Iterator(const std::vector<Row>* rows, Slot at) : rows_(rows), at_(at) {}
    const Row& operator*() const { return (*rows_)[at_]; }
    const Row* operator->() const { return &(*rows_)[at_]; }
    Iterator& operator++() {
      at_ = ((*rows_)[at_].*kLinks).next;
      return *this;
    }
    Iterator operator++(int) {
      Iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    const std::vector<Row>* rows_ = nullptr;
    Slot at_ = kNoSlot;
  };

  Iterator begin() const { return {rows_, first_}; }
  Iterator end() const { return {rows_, kNoSlot}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  const std::vector<Row>* rows_;
  Slot first_;
  std::size_t size_;
};

}  // namespace muster

#pragma once

#include <vector>

#include "schedulers/lrasched/size_book.hpp"

namespace muster::lrasched {

/// A replica that runs and is to have another size.
struct SizeMove {
  Slot task = kNoSlot;
  std::uint32_t size = 0;
};

/// The replicas of the service that are to get another size now: the one that tries a size, and
/// those that do not have the size chosen, no more at a time than may come beyond its number. In
/// their order. O(its tasks).
std::vector<SizeMove> size_moves(const ClusterView& view, const JobRow& job,
                                 const SizedService& service);

}  // namespace muster::lrasched

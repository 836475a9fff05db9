#pragma once

#include <vector>

#include "schedulers/lrasched/size_book.hpp"

namespace muster::lrasched {

/// Tasks of the service that may stand in for replicas: those that are no replicas, and neither
/// leave nor have ended. O(1); never more than there are, but for one that fails just now.
inline std::uint32_t spare_of(const JobRow& job) {
  const auto tasks = static_cast<std::uint32_t>(job.tasks.size());
  const std::uint32_t others = job.wanted + job.leaving + job.ended() + job.held;
  return tasks > others ? tasks - others : 0;
}

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

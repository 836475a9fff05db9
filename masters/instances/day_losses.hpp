#pragma once

#include <map>
#include <set>
#include <utility>

#include "model/cluster_state.hpp"
#include "model/event.hpp"

namespace muster {

/// Runs that the day's cap has ended and of which nothing was kept. When each day's money starts
/// more tasks side by side than it can finish, no task ever finishes: so the money of a later day
/// has to pay for a longer run than the one that was lost before it starts something beside such a
/// task. A fold over events.
class DayLosses {
 public:
  /// Learns from the event, of which `state` does not know yet. O(log of such tasks).
  void absorb(const Event& event, const ClusterState& state);
  /// Time for which a day has to pay for all that runs, where it is more than one instance; 0:
  /// nothing was lost so.
  Duration needed() const;

  const std::map<TaskId, Duration>& book() const { return lost_; }
  void restore(std::map<TaskId, Duration> book);

 private:
  struct Fold;
  void forget(TaskId task);

  std::map<TaskId, Duration> lost_;  ///< of unfinished tasks, the longest run
  std::multiset<Duration> lengths_;  ///< of these
};

}  // namespace muster

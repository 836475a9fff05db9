#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "schedulers/policy.hpp"

namespace muster {

/// The instances that stand empty: no task is there or meant to be, and they are wanted. It follows
/// the events, so that who gives an instance back as soon as its last task has left need not look
/// at the others. It follows from the state: words for a snapshot are not needed.
class IdleInstances {
 public:
  /// Learns what happened; the state is the one right after it.
  void observe(const Event& event, const ClusterState& state);
  /// Begins anew from a state.
  void rebuild(const ClusterState& state);
  /// In the order of their numbers.
  const std::set<InstanceId>& ids() const { return idle_; }
  /// Gives back all of them that are rented.
  std::vector<Release> releases(const ClusterView& view) const;

 private:
  /// Where a task is and where it is meant to be.
  struct Places {
    TaskId task;
    InstanceId at{};
    InstanceId target{};
  };

  void follow_task(Slot slot, const ClusterState& state);
  void follow(InstanceId id, const ClusterState& state);

  bool built_ = false;
  std::set<InstanceId> idle_;
  std::vector<Places> by_slot_;
  std::unordered_map<JobId, std::vector<Slot>> tasks_of_;  // looked up only
};

}  // namespace muster

#pragma once

#include <map>
#include <span>
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
  /// Begins anew from a state: all of them stand empty since then.
  void rebuild(const ClusterState& state, Instant now = {});
  /// In the order of their numbers, and since when.
  const std::map<InstanceId, Instant>& since() const { return idle_; }
  /// Those that the last event made empty, or not so any more.
  std::span<const InstanceId> changes() const { return changes_; }
  /// For a policy that keeps since() in its snapshot, as it does not follow from the state.
  /// Instances that are not idle are left out.
  void restore_since(const std::map<InstanceId, Instant>& since);
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
  Instant now_{};  ///< of the last event
  std::map<InstanceId, Instant> idle_;
  std::vector<InstanceId> changes_;
  std::vector<Places> by_slot_;
  std::unordered_map<JobId, std::vector<Slot>> tasks_of_;  // looked up only
};

}  // namespace muster

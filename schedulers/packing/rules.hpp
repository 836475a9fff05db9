#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/feasible.hpp"
#include "model/plan.hpp"
#include "schedulers/packing/types/placement_mask.hpp"
#include "schedulers/policy.hpp"

// Rules of placement beside room. Packers ask them where they look for room, so that no plan has to
// be repaired. The static part, which knows kinds of tasks and of instances, is PlacementMask; the
// dynamic part is here and depends on who is there: a task whose job wants distinct instances goes
// where none of its peers is.

namespace muster {

/// An instance has a place for one task of the job at most.
inline bool keeps_apart(const JobRow& job) {
  return job.job.distinct_instances && job.tasks.size() > 1;
}
/// The job's slot where its tasks are kept apart, else kNoSlot.
inline Slot apart_of(const JobRow& job) {
  return keeps_apart(job) ? job.slot : kNoSlot;
}

/// The task may be on the instance beside all that are there or are to come there. O(tasks there)
/// for tasks that are kept apart, else O(1).
inline bool may_share(const ClusterState& state, const TaskRow& task, const InstanceRow& on) {
  return !keeps_apart(state.job(task.job)) || !has_peer(state, task, on);
}

/// Whether somebody may go to the room of a number, beside whoever is there. Empty: to any room.
/// Tasks of the jobs ask, which are kept apart. A room that is refused stays so while they ask:
/// indexes set it aside until others do, or the tasks of a job would pass by all its peers each.
/// A packer that takes peers back opens their rooms again.
class RoomRule {
 public:
  RoomRule() = default;
  RoomRule(std::vector<Slot> jobs, std::function<bool(std::uint64_t room)> may_join)
      : jobs_(std::move(jobs)), may_join_(std::move(may_join)) {}

  explicit operator bool() const { return static_cast<bool>(may_join_); }
  bool operator()(std::uint64_t room) const { return may_join_(room); }
  const std::vector<Slot>& jobs() const { return jobs_; }

 private:
  std::vector<Slot> jobs_;
  std::function<bool(std::uint64_t room)> may_join_;
};

/// Which rooms have a task of which job, of jobs whose tasks are kept apart. Rooms are instances,
/// there or to be rented, by whatever numbers a packer gives them. O(1) a question.
class PeerRooms {
 public:
  void clear() { rooms_.clear(); }
  /// A task of the job, by its slot, is in the room or is to come there. Nothing for kNoSlot.
  void add(std::uint64_t room, Slot apart) {
    if (apart != kNoSlot) rooms_.emplace(room, apart);
  }
  /// The task that was added last is not to come after all.
  void remove(std::uint64_t room, Slot apart) { rooms_.erase({room, apart}); }
  bool has(std::uint64_t room, Slot apart) const {
    return apart != kNoSlot && rooms_.contains({room, apart});
  }
  /// The rooms that a task of the job may join, as a rule for searches; it must not outlive this.
  RoomRule rule_for(Slot apart) const {
    if (apart == kNoSlot) return {};
    return {{apart}, [this, apart](std::uint64_t room) { return !has(room, apart); }};
  }

 private:
  struct Hash {
    std::size_t operator()(const std::pair<std::uint64_t, Slot>& key) const noexcept {
      return static_cast<std::size_t>((key.first * 0x9e3779b97f4a7c15ULL) ^
                                      (key.second * 0xbf58476d1ce4e5b9ULL));
    }
  };
  std::unordered_set<std::pair<std::uint64_t, Slot>, Hash> rooms_;  // looked up only
};

/// Tasks that found no room in a round. Room only shrinks while tasks get places, so that of tasks
/// that ask alike one has to look; of tasks that are kept apart one of each job, since what it was
/// refused for may be a peer.
class FoundNoRoom {
 public:
  bool has(const PlaceAsks& asks, Slot apart) const {
    return known_.contains({asks, kNoSlot}) || (apart != kNoSlot && known_.contains({asks, apart}));
  }
  void add(const PlaceAsks& asks, Slot apart) { known_.emplace(asks, apart); }
  /// There is more room than before.
  void clear() { known_.clear(); }

 private:
  std::set<std::pair<PlaceAsks, Slot>> known_;
};

/// Deals tasks out into lists of which each has one task of a job at most whose tasks are kept
/// apart, so that whatever is rented for tasks of one list keeps the rule. `apart(task)` answers
/// kNoSlot for tasks without that wish: these are dealt out evenly, so that each list has some to
/// fill up with. One list, as it came, where no job has the wish.
template <class Task, class ApartOf>
std::vector<std::vector<Task>> layers_of(std::vector<Task> tasks, const ApartOf& apart) {
  std::unordered_map<Slot, std::size_t> count;  // looked up only
  std::size_t most = 1;
  for (const Task& task : tasks) {
    if (const Slot job = apart(task); job != kNoSlot) most = std::max(most, ++count[job]);
  }
  std::vector<std::vector<Task>> layers;
  if (most == 1) {
    layers.push_back(std::move(tasks));
    return layers;
  }
  count.clear();
  layers.resize(most);
  std::size_t others = 0;
  for (const Task& task : tasks) {
    const Slot job = apart(task);
    layers[(job != kNoSlot ? count[job]++ : others++) % most].push_back(task);
  }
  return layers;
}

/// Where the instances are given: tells the tasks that wait, of jobs whose tasks are kept apart,
/// why no instance takes them: each has another task of the job, or those without one lack room,
/// with the numbers. Tasks to which the plan gives a place or another reason than want of room keep
/// that. O(instances) for each shape of such a job that waits, else O(jobs).
void tell_who_is_kept_apart(const ClusterView& view, Plan& plan);

}  // namespace muster

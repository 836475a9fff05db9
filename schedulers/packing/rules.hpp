#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/feasible.hpp"
#include "model/plan.hpp"
#include "schedulers/packing/types/placement_mask.hpp"
#include "schedulers/policy.hpp"

// Rules of placement beside room. Packers ask them where they look for room, so that no plan has to
// be repaired. The static part, which knows kinds of tasks and of instances, is PlacementMask; the
// dynamic part is here and depends on who is there: a task whose job bounds its tasks on one
// instance goes where fewer of its peers are.

namespace muster {

/// An instance has a place for some tasks of the job at most, and not for all.
inline bool keeps_apart(const JobRow& job) {
  return job.job.most_an_instance > 0 && job.tasks.size() > job.job.most_an_instance;
}

/// The job from whose other tasks a task is kept apart, and how many of them all may be together.
/// Of a task that may be beside any number of them: false.
struct Apart {
  Slot job = kNoSlot;
  std::uint32_t most = 0;

  explicit operator bool() const { return job != kNoSlot; }
  friend auto operator<=>(const Apart&, const Apart&) = default;
};
/// Of every task of the job.
inline Apart apart_of(const JobRow& job) {
  return keeps_apart(job) ? Apart{job.slot, job.job.most_an_instance} : Apart{};
}

/// The task may be on the instance beside all that are there or are to come there, and `more` of
/// its peers. O(tasks there) for tasks that are kept apart, else O(1).
inline bool may_share(const ClusterState& state, const TaskRow& task, const InstanceRow& on,
                      std::uint32_t more = 0) {
  const Apart apart = apart_of(state.job(task.job));
  return !apart || peers_on(state, task, on) + more < apart.most;
}

/// The tasks, of which some are kept apart, may all be on one instance. O(tasks^2).
template <class Tasks, class ApartOf>
bool may_be_together(const Tasks& tasks, const ApartOf& apart_of_task) {
  return std::ranges::all_of(tasks, [&](const auto& task) {
    const Apart apart = apart_of_task(task);
    const auto is_own = [&](const auto& other) { return apart_of_task(other) == apart; };
    return !apart || std::ranges::count_if(tasks, is_own) <= std::ptrdiff_t{apart.most};
  });
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

/// How many tasks of which job each room has, of jobs whose tasks are kept apart. Rooms are
/// instances, there or to be rented, by whatever numbers a packer gives them. O(1) a question.
class PeerRooms {
 public:
  void clear() { rooms_.clear(); }
  /// `tasks` more of the job are in the room or are to come there: each counts once. Nothing where
  /// they are not kept apart.
  void add(std::uint64_t room, const Apart& apart, std::uint32_t tasks = 1) {
    if (apart) rooms_[{room, apart.job}] += tasks;
  }
  /// A task that was added is not to come after all.
  void remove(std::uint64_t room, const Apart& apart) {
    const auto found = rooms_.find({room, apart.job});
    if (found != rooms_.end() && --found->second == 0) rooms_.erase(found);
  }
  /// Tasks of the job in the room; 0 for tasks that are not kept apart.
  std::uint32_t count(std::uint64_t room, const Apart& apart) const {
    if (!apart) return 0;
    const auto found = rooms_.find({room, apart.job});
    return found != rooms_.end() ? found->second : 0;
  }
  /// Tasks of the job that the room still may have; of tasks that are not kept apart any number.
  std::uint32_t left(std::uint64_t room, const Apart& apart) const {
    if (!apart) return std::numeric_limits<std::uint32_t>::max();
    return apart.most - std::min(apart.most, count(room, apart));
  }
  /// The room has as many tasks of the job as it may.
  bool is_full(std::uint64_t room, const Apart& apart) const { return left(room, apart) == 0; }
  /// The rooms that a task of the job may join, as a rule for searches; it must not outlive this.
  RoomRule rule_for(const Apart& apart) const {
    if (!apart) return {};
    return {{apart.job}, [this, apart](std::uint64_t room) { return !is_full(room, apart); }};
  }

 private:
  struct Hash {
    std::size_t operator()(const std::pair<std::uint64_t, Slot>& key) const noexcept {
      return static_cast<std::size_t>((key.first * 0x9e3779b97f4a7c15ULL) ^
                                      (key.second * 0xbf58476d1ce4e5b9ULL));
    }
  };
  std::unordered_map<std::pair<std::uint64_t, Slot>, std::uint32_t, Hash> rooms_;  // looked up only
};

/// Tasks that found no room in a round. Room only shrinks while tasks get places, so that of tasks
/// that ask alike one has to look; of tasks that are kept apart one of each job, since what it was
/// refused for may be a peer.
class FoundNoRoom {
 public:
  bool has(const PlaceAsks& asks, const Apart& apart) const {
    return known_.contains({asks, kNoSlot}) || (apart && known_.contains({asks, apart.job}));
  }
  void add(const PlaceAsks& asks, const Apart& apart) { known_.emplace(asks, apart.job); }
  /// There is more room than before.
  void clear() { known_.clear(); }

 private:
  std::set<std::pair<PlaceAsks, Slot>> known_;
};

/// Deals tasks out into lists of which each has no more tasks of a job than may be together, so
/// that whatever is rented for tasks of one list keeps the rule. `apart(task)` answers an Apart;
/// tasks that are not kept apart are dealt out evenly, so that each list has some to fill up with.
/// One list, as it came, where no job has more tasks than may be together.
template <class Task, class ApartOf>
std::vector<std::vector<Task>> layers_of(std::vector<Task> tasks, const ApartOf& apart) {
  std::unordered_map<Slot, std::size_t> count;  // looked up only
  std::size_t most = 1;
  for (const Task& task : tasks) {
    const Apart job = apart(task);
    if (job) most = std::max(most, 1 + count[job.job]++ / job.most);
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
    const Apart job = apart(task);
    layers[(job ? count[job.job]++ / job.most : others++ % most)].push_back(task);
  }
  return layers;
}

/// Where the instances are given: tells the tasks that wait, of jobs whose tasks are kept apart,
/// why no instance takes them: each has as many tasks of the job as it may, or those with fewer
/// lack room, with the numbers. Tasks to which the plan gives a place or another reason than want
/// of room keep that. O(instances) for each shape of such a job that waits, else O(jobs).
void tell_who_is_kept_apart(const ClusterView& view, Plan& plan);

}  // namespace muster

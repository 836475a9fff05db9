#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedulers/muster/fleet_queue.hpp"
#include "schedulers/muster/fleet_room.hpp"

namespace muster::own {

/// The policy's facts of a fixed fleet's jobs and instances of one market: a fold over the events.
class FleetMemory {
 public:
  FleetMemory(const FleetParams& params, const Catalog& catalog, Market market);

  /// Takes an event in. A policy that has not seen the first event begins with the state as it is.
  void observe(const Event& event, const ClusterView& view);
  /// The time is now `now`: finds tasks that have waited too long, and jobs that have outlived
  /// their class.
  void pass_time(const ClusterView& view, Instant now);
  /// Begins anew with what the state says.
  void rebuild(const ClusterView& view);
  bool built() const { return built_; }

  const FleetParams& params() const { return params_; }
  const FleetQueue& queue() const { return queue_; }
  const FleetRoom& room() const { return room_; }
  /// A round takes room here, and gives all of it back.
  FleetRoom& room_of_round() { return room_; }
  /// Tasks that came to wait since the last round.
  const std::set<TaskId>& fresh() const { return fresh_; }
  /// Resources that long tasks will hold when those have started that room is kept for, where
  /// nothing else is left by then.
  ResourceSum promised_to_long(const ClusterState& state) const;
  /// Resources of the capacity that long tasks may hold.
  Resources long_share() const;

  /// Equal for equal memories.
  std::string save() const;
  /// False when the words are not understood.
  bool load(std::string_view text, const ClusterView& view);

 private:
  struct Task {
    TaskId id;
    bool waits = false;      ///< it is in the queue
    InstanceId planned;      ///< where it is meant to be
    InstanceId at;           ///< where it is
    Resources held_as_long;  ///< its share in the resources of long tasks
    Instant outlives{};      ///< when its job turns long, while it is watched
  };

  bool shows(const Job& job) const;
  bool follows(const JobRow& job, const ClusterView& view) const;
  void follow(const Event& event, const ClusterView& view);
  void follow_task(Slot slot, const ClusterView& view);
  void queue_task(const TaskRow& row, Task& task, const ClusterView& view);
  void watch(const TaskRow& row, Task& task, bool is_long);
  Task& task_of(const TaskRow& row);
  void move(Task& task, Slot slot, InstanceId planned, InstanceId at);
  std::vector<Slot> tasks_on(InstanceId id) const;
  void forget(JobId id, const ClusterView& view);
  void end_round(const ClusterView& view);
  void keep_room(const ClusterView& view);
  /// A task that an instance may be kept for.
  struct Starving {
    Instant since;
    FleetKey key;
    TaskId task;
    bool is_long = false;
  };
  std::vector<Starving> starving_without_room() const;
  ResourceSum long_on(const InstanceRow& instance) const;
  std::optional<InstanceId> first_to_empty(const ClusterState& state, const Starving& who) const;
  std::optional<Instant> end_of(const ClusterState& state, const TaskRow& task) const;

  FleetParams params_;
  FleetQueue queue_;
  FleetRoom room_;
  std::vector<Task> tasks_;                   ///< by slot
  std::set<std::pair<InstanceId, Slot>> on_;  ///< tasks that are there, or are meant to be
  std::set<std::pair<Instant, Slot>> watch_;  ///< tasks of short jobs that run, by `outlives`
  std::set<TaskId> fresh_;
  bool built_ = false;
};

}  // namespace muster::own

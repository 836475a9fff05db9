#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/resource_sum.hpp"
#include "schedulers/packing/index/free_capacity_index.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// Capacity of a fixed fleet's instances of one market: the free part, the part of long tasks, and
/// the instances that are kept for tasks that have waited for too long. Follows the state.
class FleetRoom {
 public:
  FleetRoom(const Catalog& catalog, Market market);

  /// Begins anew with the instances of the state.
  void rebuild(const ClusterView& view);
  /// An instance has come, or is as the state has it now. True: of a type that was not there.
  bool follow(const ClusterView& view, InstanceId id);
  /// The resources that long tasks hold have changed.
  void count_long(const Resources& before, const Resources& now);
  /// Demands that the state has seen since.
  void learn_shapes(const ClusterState& state) { types_.learn(state); }

  Market market() const { return market_; }
  const FeasibleTypes& types() const { return types_; }
  const Resources& least(ShapeId shape) const { return types_.least(shape); }
  bool ever_holds(ShapeId shape) const { return types_.hold(market_, {&shape, 1}); }
  /// Of the instances that the task may join.
  std::optional<InstanceId> best_fit(ShapeId shape, const RoomRule& may_join = {}) const;
  /// The most that is free of each kind of resource on any one instance.
  Resources max_free() const { return free_.max_free(market_); }
  /// Resources of all instances together, and the part of them that no task is assigned to.
  Resources capacity() const { return capacity_.value(); }
  Resources all_free(const ClusterState& state) const;
  const ResourceSum& held_by_long() const { return long_; }

  /// A round takes room and gives it back, until its end.
  void begin_round() { free_.forget_freed(); }
  void take(InstanceId id, ShapeId shape);
  void give_back(InstanceId id, ShapeId shape);
  void close(InstanceId id) { free_.close(id); }
  /// Tasks may be placed there.
  bool has(InstanceId id) const { return there_.contains(id); }
  void end_round(const ClusterState& state) { free_.give_all_back(state); }
  /// The instance itself has room for the task, whomever it is kept for.
  bool fits_on(const ClusterState& state, InstanceId id, ShapeId shape) const;

  /// Instances that are kept, each for a task.
  const std::map<InstanceId, TaskId>& kept() const { return kept_; }
  bool keeps_for(TaskId task) const { return instance_of_.contains(task); }
  void keep(InstanceId id, TaskId task);
  /// No instance is kept for the task any more.
  void drop(TaskId task);
  std::size_t instances() const { return there_.size(); }
  /// Those that tasks may start on.
  const std::map<InstanceId, Resources>& there() const { return there_; }

  /// The names of the types that there ever were, and taking them back.
  std::vector<std::string> type_names() const;
  void restore_types(const std::vector<std::string>& names, const ClusterView& view);

 private:
  void follow_row(const ClusterView& view, InstanceId id);

  const Catalog* catalog_;
  Market market_;
  FeasibleTypes types_;
  FreeCapacityIndex free_;
  std::map<InstanceId, Resources> there_;  ///< with what they have
  ResourceSum capacity_;                   ///< of these
  ResourceSum long_;
  std::map<InstanceId, TaskId> kept_;
  std::map<TaskId, InstanceId> instance_of_;  ///< kept for the task
};

/// Whether a long task may start: of every kind of resource that it asks for, what long tasks hold
/// is less than their share of the capacity.
bool long_may_start(const Resources& asked, const Resources& held, const Resources& share);

}  // namespace muster::own

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "model/event.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// What the policy remembers of tasks and instances: a fold over the events.
class Memory {
 public:
  void observe(const Event& event, const ClusterView& view);

  /// How long the task has been without an instance so far, over its life.
  Duration waited(TaskId task, Instant now) const;
  /// Something has left the instance or it has become ready since the last round.
  bool is_dirty(InstanceId instance) const { return dirty_.contains(instance); }
  /// Nothing has come, left or become ready since the last round.
  bool is_quiet() const { return !changed_; }

  /// What a task has waited: in all before now, and since when it waits now.
  struct Wait {
    Duration before{};
    std::optional<Instant> since{};
    InstanceId on{};  ///< where it was last meant to be

    friend bool operator==(const Wait&, const Wait&) = default;
  };
  const std::map<TaskId, Wait>& waits() const { return waits_; }
  const std::set<InstanceId>& dirty() const { return dirty_; }
  void restore(std::map<TaskId, Wait> waits, std::set<InstanceId> dirty, bool changed);

 private:
  void begin(TaskId task, Instant at);
  void end(TaskId task, Instant at);

  std::map<TaskId, Wait> waits_;  ///< of the tasks of unfinished jobs
  std::set<InstanceId> dirty_;
  bool changed_ = false;
};

}  // namespace muster::own

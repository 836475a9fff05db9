#pragma once

#include <optional>
#include <vector>

#include "masters/tasks/start_candidates.hpp"
#include "masters/tasks/task_orders.hpp"

namespace muster {

/// Brings what is decided about: starts the assigned tasks that can start where they are meant to
/// be, tells the others why they wait, and ends the released instances that are empty. Only what
/// events have changed since the last time is looked at.
class Reconciler final : public EventListener {
 public:
  Reconciler(MasterRecorder& recorder, TaskOrders& tasks, InstanceReleases& releases);

  /// Everything.
  void reconcile(Instant now);
  /// Tries the tasks that a change on one instance concerns: those assigned to it, and their gangs.
  /// A change there must not cost a look at the whole cluster, nor at a whole gang that still waits
  /// for others.
  void reconcile_at(InstanceId id, Instant now);
  /// As reconcile_at(), where nothing has changed but that a task has left it. Looks at what is
  /// meant for it only where something waits for that.
  void reconcile_room(InstanceId id, Instant now);
  /// As reconcile_room(), for a task that has left its instance, and its gang; no instance is
  /// ended.
  void reconcile_task(TaskId id, Instant now);

  void before(const Event& event, const MasterFacts& facts) override;
  void after(const Event& event, const MasterFacts& facts) override;
  void restored(const MasterFacts& facts) override;

 private:
  const ClusterState& state() const { return recorder_.facts().state; }
  void try_start(Slot slot, Instant now);
  void leave_market(const TaskRow& task, Instant now);
  std::optional<Refusal> gang_start_blocker(const JobRow& job) const;
  std::optional<Refusal> start_blocker(const TaskRow& task) const;

  MasterRecorder& recorder_;
  TaskOrders& tasks_;
  InstanceReleases& releases_;
  StartCandidates candidates_;
};

}  // namespace muster

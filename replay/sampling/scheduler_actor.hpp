#pragma once

#include <memory>

#include "replay/sampling/sampling_group.hpp"

namespace muster::sampling {

/// The actor around a scheduler of a sampling group: messages in, actions out, each recorded before
/// it is sent. Its messages take the network's delay.
class SchedulerActor : public GroupScheduler::base {
 public:
  /// The group has to outlive the actor.
  SchedulerActor(caf::actor_config& config, GroupShared& group,
                 std::unique_ptr<Scheduler> scheduler);
  const char* name() const override { return "muster.scheduler"; }

 protected:
  behavior_type make_behavior() override;

 private:
  void perform();
  void perform(const Reserve& action);
  void perform(const Cancel& action);
  void perform(const Answer& action);
  void perform(const Push& action);
  void perform(const Forward& action);
  void perform(const JobOver& action);
  void perform(const Later& action);
  Host host(WorkerIndex worker) const;
  void assign(const TaskRef& task, WorkerIndex to, CauseCode why);
  TaskOrder start(const TaskRef& task, WorkerIndex on);

  GroupShared& group_;
  ActorTimer<GroupScheduler, SchedulerActor> timer_;
  std::unique_ptr<Scheduler> scheduler_;
  Actions actions_;  ///< wanted and not sent yet
};

}  // namespace muster::sampling

#pragma once

#include <optional>

#include "replay/sampling/sampling_messages.hpp"
#include "schedulers/sampling/local_queue.hpp"
#include "workers/worker_duties.hpp"

namespace muster {

/// A worker of a sampling group. To its master it is a worker like any other; around its duties
/// there is a queue of reservations, which asks the group's schedulers for tasks when there is
/// room and tells them of ends. Until it is told of a group the queue does not exist.
class GroupMember : public GroupWorker::base {
 public:
  GroupMember(caf::actor_config& config, const WorkerSetup& setup);
  const char* name() const override { return "muster.group-member"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  /// Tells the member too what is over.
  class Port final : public ActorPort<GroupMember, ActorTimer<GroupWorker, GroupMember>> {
   public:
    using ActorPort::ActorPort;
    void over(TaskId task) override { self()->notify_over(task); }
  };
  struct Member {
    GroupMembership group;
    sampling::LocalQueue queue;
  };

  void join(GroupMembership group);
  void start_pushed(const TaskOrder& order);
  void hear(const sampling::Reservation& reservation);
  void hear(const TaskAnswer& answer);
  void ask_for_tasks();
  void notify_over(TaskId task);

  ActorTimer<GroupWorker, GroupMember> timer_;
  Port port_;
  WorkerDuties duties_;
  std::optional<Member> member_;
};

}  // namespace muster

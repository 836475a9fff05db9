#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "actors/clock.hpp"
#include "actors/sampling_messages.hpp"
#include "workers/executor.hpp"

namespace muster {

/// What a worker is told when it starts on its instance.
struct WorkerSetup {
  InstanceId instance;
  TypeId type;
  Resources capacity;
  MasterActor master;
  ClusterEpoch epoch;
  ExecutorFactory make_executor;
  std::size_t remembered = 10'000;  ///< settled attempts whose repeated start is known; >= 1
};

/// The worker of one instance: says hello to its master, runs what it is told by way of its
/// executor and reports what becomes of it, again with every hello until the master has settled it.
/// It never takes on more than its capacity. As a member of a sampling group it has a queue of
/// reservations besides, and asks the group's schedulers for tasks when it has room.
class Worker : public GroupWorker::base {
 public:
  Worker(caf::actor_config& config, WorkerSetup setup);
  const char* name() const override { return "muster.worker"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  /// An attempt whose outcome the master has not settled.
  struct Open {
    Resources granted;    ///< zero once it is over
    WorkerReport newest;  ///< `taken` until there is something to report
  };
  using AttemptKey = std::pair<TaskId, Attempt>;
  /// Its part in a sampling group.
  struct Member {
    GroupMembership group;
    sampling::LocalQueue queue;
  };

  ExecutorHost make_host();
  void greet();
  void adopt();
  void start(const StartOrder& order);
  void settle(TaskId task, Attempt attempt);
  void forget_oldest();
  void answer_sample(std::uint64_t asking);
  void answer_log(const LogRequest& request);
  void over(TaskId task, Attempt attempt, WorkerReport report, ExecutionEnd end);
  void report(TaskId task, Attempt attempt, WorkerReport details);
  void release(Open& open);

  void join(GroupMembership group);
  void hear(const sampling::Reservation& reservation);
  void hear(const TaskAnswer& answer);
  void ask_for_tasks();
  void tell_group_over(TaskId task);

  WorkerSetup setup_;
  ActorTimer<WorkerActor, Worker> timer_;
  std::unique_ptr<Executor> executor_;
  std::map<TaskId, Attempt> newest_;  ///< the last attempt seen of each task, while remembered
  std::deque<AttemptKey> settled_;    ///< the oldest first
  std::map<AttemptKey, Open> open_;
  Resources used_;
  std::uint64_t hellos_ = 0;
  std::optional<Member> member_;  ///< absent in every cluster but a sampling group
};

}  // namespace muster

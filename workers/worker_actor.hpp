#pragma once

#include <map>
#include <memory>

#include "actors/clock.hpp"
#include "actors/messages.hpp"
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
};

/// The worker of one instance: says hello to its master, runs what it is told by way of its
/// executor and reports what becomes of it. It never takes on more than its capacity.
class Worker : public WorkerActor::base {
 public:
  Worker(caf::actor_config& config, WorkerSetup setup);
  const char* name() const override { return "muster.worker"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  ExecutorHost make_host();
  void start(const StartOrder& order);
  void report(TaskId task, Attempt attempt, WorkerReportKind kind, WorkerReport details);
  void release(TaskId task);

  WorkerSetup setup_;
  ActorTimer<WorkerActor, Worker> timer_;
  std::unique_ptr<Executor> executor_;
  std::map<TaskId, Attempt> newest_;     ///< the last attempt seen of each task
  std::map<TaskId, Resources> granted_;  ///< of the attempts that are not over
  Resources used_;
};

}  // namespace muster

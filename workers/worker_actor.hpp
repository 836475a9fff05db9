#pragma once

#include "workers/worker_duties.hpp"

namespace muster {

/// The worker of one instance, as an actor.
class Worker : public WorkerActor::base {
 public:
  Worker(caf::actor_config& config, WorkerSetup setup);
  const char* name() const override { return "muster.worker"; }
  void on_exit() override { duties_.end(); }

 protected:
  behavior_type make_behavior() override;

 private:
  ActorTimer<WorkerActor, Worker> timer_;
  WorkerDuties duties_;
};

}  // namespace muster

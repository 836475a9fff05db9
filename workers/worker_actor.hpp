#pragma once

#include "workers/worker_duties.hpp"

namespace muster {

/// A worker's handlers, the duties being those that `find` returns.
template <class Find>
WorkerActor::behavior_type worker_behavior(Find find) {
  return {
      [find](start_atom, const TaskOrder& order) { find().start(order); },
      [find](stop_atom, TaskId task, Attempt attempt) { find().stop(task, attempt); },
      [find](ack_atom, TaskId task, Attempt attempt) { find().acknowledge(task, attempt); },
      [find](greet_atom) { find().greet(); },
      [find](sample_atom, std::uint64_t sample_round) { find().answer_sample(sample_round); },
      [find](const LogRequest& request) { find().answer_log(request); },
      [find](const ExecRequest& request) { find().answer_exec(request); },
      [find](const UsageRequest& request) { find().answer_usage(request); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

/// The worker of one instance, as an actor.
class Worker : public WorkerActor::base {
 public:
  Worker(caf::actor_config& config, const WorkerSetup& setup);
  const char* name() const override { return "muster.worker"; }
  void on_exit() override { duties_.end(); }

 protected:
  behavior_type make_behavior() override;

 private:
  ActorTimer<WorkerActor, Worker> timer_;
  ActorPort<Worker, ActorTimer<WorkerActor, Worker>> port_;
  WorkerDuties duties_;
};

}  // namespace muster

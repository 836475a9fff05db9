#include "workers/worker_actor.hpp"

#include <utility>

namespace muster {

Worker::Worker(caf::actor_config& config, WorkerSetup setup)
    : WorkerActor::base(config),
      timer_(this, setup.origin),
      duties_(setup, port_of(this, timer_, setup.master)) {}

WorkerActor::behavior_type Worker::make_behavior() {
  duties_.greet();
  return {
      [this](start_atom, const StartOrder& order) { duties_.start(order); },
      [this](stop_atom, TaskId task, Attempt attempt) { duties_.stop(task, attempt); },
      [this](ack_atom, TaskId task, Attempt attempt) { duties_.acknowledge(task, attempt); },
      [this](greet_atom) { duties_.greet(); },
      [this](sample_atom, std::uint64_t sample_round) { duties_.answer_sample(sample_round); },
      [this](const LogRequest& request) { duties_.answer_log(request); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

}  // namespace muster

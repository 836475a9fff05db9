#include "workers/worker_actor.hpp"

namespace muster {

Worker::Worker(caf::actor_config& config, const WorkerSetup& setup)
    : WorkerActor::base(config),
      timer_(this, setup.origin),
      port_(this, timer_, setup.master),
      duties_(setup, port_) {}

WorkerActor::behavior_type Worker::make_behavior() {
  duties_.greet();
  return worker_behavior([this]() -> WorkerDuties& { return duties_; });
}

}  // namespace muster

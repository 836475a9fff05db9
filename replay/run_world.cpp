#include "replay/run_world.hpp"

#include <variant>

// Puts the parts of the simulated world together: which of them a task is in is known by its job.

namespace muster::replay {
namespace {

WorldSetup batch_setup(const RunWorldSetup& setup, std::function<void()> wake) {
  const WorldConfig& config = setup.config->world;
  WorldSetup world;
  world.catalog = setup.catalog;
  world.interference = setup.interference;
  world.quantum = config.quantum;
  world.settle = config.settle;
  world.checkpoints = config.checkpoints;
  world.wake_at = [at = setup.wake_at, wake = std::move(wake)](Instant when) { at(when, wake); };
  world.distributed_slowdown = config.distributed_slowdown;
  return world;
}

ServiceWorldSetup service_setup(const RunWorldSetup& setup, std::function<void()> wake) {
  const WorldConfig& config = setup.config->world;
  return {config.quantum, replica_noise(config, setup.seed),
          [at = setup.wake_at, wake = std::move(wake)](Instant when) { at(when, wake); },
          setup.now};
}

}  // namespace

ReplicaNoise replica_noise(const WorldConfig& world, std::uint64_t seed) {
  return {world.service_noise, seed};
}

RunWorld::RunWorld(const RunWorldSetup& setup)
    : workload_(*setup.workload),
      index_(workload_),
      batch_(batch_setup(setup, [this, now = setup.now] { batch_.wake(now()); })),
      services_(service_setup(setup, [this, now = setup.now] { services_.wake(now()); })),
      divided_(*this),
      named_(divided_, *setup.names) {
  batch_.set_clock(setup.now);
}

ExecutionModel& RunWorld::Divided::part(TaskId task) const {
  if (world_.services_.knows(task)) return world_.services_;
  return world_.batch_;
}

void RunWorld::see(const Event& event) {
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    const Job& part = accepted->job;
    const std::size_t rank = index_.of(part.id);
    const WorkloadJob job = workload_.job(rank);
    if (job.truth.service) {
      services_.add(job, part);
    } else {
      batch_.add(rank, job, part);
    }
    open_parts_[{event.cell, part.id}] = &part;
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    const auto part = open_parts_.find({event.cell, over->job});
    if (part == open_parts_.end()) return;
    if (part->second->service() != nullptr) {
      services_.forget(*part->second);
    } else {
      batch_.forget(*part->second);
    }
    open_parts_.erase(part);
  }
}

}  // namespace muster::replay

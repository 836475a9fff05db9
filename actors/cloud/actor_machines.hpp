#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "actors/cloud/machine_backend.hpp"
#include "actors/messages/interfaces.hpp"

namespace muster {

/// Starts the worker of a machine that is nothing but an actor.
using WorkerLauncher = std::function<WorkerActor(InstanceId, const std::string& type)>;

/// Machines that are worker actors of this process: for replay.
class ActorMachines final : public MachineBackend {
 public:
  explicit ActorMachines(WorkerLauncher launch) : launch_(std::move(launch)) {}

  Expected<std::string, MachineError> boot(const MachineOrder& order) override {
    WorkerActor& worker = workers_[order.instance];
    if (!worker) worker = launch_(order.instance, order.type.name);
    return std::string("actor");
  }
  bool halt(InstanceId instance, const std::string&, Duration, std::function<void()>) override {
    const auto found = workers_.find(instance);
    if (found == workers_.end()) return true;
    caf::anon_send_exit(found->second, caf::exit_reason::user_shutdown);
    workers_.erase(found);
    return true;
  }
  bool adopt(const RentedRecord& record) override { return workers_.contains(record.instance); }

  /// The instances whose worker runs.
  std::vector<InstanceId> running() const {
    std::vector<InstanceId> instances;
    for (const auto& [id, worker] : workers_) instances.push_back(id);
    return instances;
  }

  /// Drops the references to the workers; each ends with its last reference.
  void clear() { workers_.clear(); }

 private:
  WorkerLauncher launch_;
  std::map<InstanceId, WorkerActor> workers_;
};

}  // namespace muster

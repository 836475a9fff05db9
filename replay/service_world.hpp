#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/workload/workload.hpp"
#include "workers/execution_model.hpp"

namespace muster::replay {

/// By what the attempts of a service's replicas differ: each does a little better or worse than its
/// service's performance says, by a factor that depends on nothing but the seed and the attempt.
class ReplicaNoise {
 public:
  ReplicaNoise(double deviation, std::uint64_t seed) : deviation_(deviation), seed_(seed) {}

  double factor(TaskId task, Attempt attempt) const;

 private:
  double deviation_;
  std::uint64_t seed_;
};

/// A replica as its performance depends on it.
struct ReplicaStand {
  Resources granted;
  std::size_t together = 1;  ///< replicas of its service on its instance, itself included
  double noise = 1;
};

/// The true performance, in [0, 1], with that factor on the service's load. The performance has to
/// be known.
double performance_of(const ServiceTruth& service, const ReplicaStand& replica, double load = 1);

struct ServiceWorldSetup {
  Duration quantum{};
  ReplicaNoise noise;
  std::function<void(Instant)> wake_at;  ///< asks for a call of wake() at that time
  std::function<Instant()> now;
};

/// The part of the simulated world that services are in: a replica is ready some time after it was
/// loaded, and then stays so until it is unloaded or lost. It does as well as its size and the
/// other replicas of its service on its instance allow, and says so when that changes; without
/// changes it costs nothing. It neither slows batch tasks nor is slowed by them.
class ServiceWorld final : public ExecutionModel {
 public:
  explicit ServiceWorld(ServiceWorldSetup setup) : setup_(std::move(setup)) {}

  /// The replicas of `part` can be loaded from now on, until it is forgotten.
  void add(const WorkloadJob& job, const Job& part);
  void forget(const Job& part);
  bool knows(TaskId task) const { return replicas_.contains(task); }

  Instant instant(Instant now) const override { return floor_to(now, setup_.quantum); }
  void load(const LoadedTask& loaded) override;
  void unload(TaskId task) override { take_off(task, true); }
  /// Others of its service on that instance are not told: they are lost with it.
  void lose(TaskId task) override { take_off(task, false); }
  double throughput(TaskId task) const override;
  std::optional<ReplicaWord> replica(TaskId task) const override;

  /// Moves on to `now`, which is what wake_at asked for.
  void wake(Instant now);

 private:
  struct Replica {
    JobId service;
    std::shared_ptr<const ServiceTruth> truth;
    Duration start{};  ///< from its being loaded until it is ready
    bool loaded = false;
    bool ready = false;
    std::optional<Instant> due;  ///< when it will be ready
    InstanceId instance;
    ReplicaStand stand{};
    LoadCaller caller;
  };
  /// Replicas of one service on one instance, in order of loading.
  using Neighbours = std::vector<Replica*>;

  void take_off(TaskId task, bool tells);
  void regroup(Neighbours& neighbours, bool tells) const;
  void arm();

  ServiceWorldSetup setup_;
  std::unordered_map<TaskId, Replica> replicas_;
  std::map<std::pair<InstanceId, JobId>, Neighbours> neighbours_;
  std::map<std::pair<Instant, TaskId>, Replica*> starting_;
  std::optional<Instant> armed_;
};

}  // namespace muster::replay

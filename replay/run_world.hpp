#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "config/replay_config.hpp"
#include "model/event.hpp"
#include "replay/service_world.hpp"
#include "replay/workload_names.hpp"
#include "replay/world.hpp"

namespace muster::replay {

struct RunWorldSetup {
  const ReplayConfig* config = nullptr;
  const Catalog* catalog = nullptr;
  const JobSource* workload = nullptr;
  Interference* interference = nullptr;
  const WorkloadNames* names = nullptr;
  std::uint64_t seed = 1;
  std::function<Instant()> now;
  std::function<void(Instant, std::function<void()>)> wake_at;  ///< runs the step at that time
};

/// By what the performances of one run's replicas differ: the seed says it, and no policy does.
ReplicaNoise replica_noise(const WorldConfig& world, std::uint64_t seed);

/// The whole simulated world of a run: batch jobs and services, known to workers by the numbers of
/// their tasks. It knows the jobs that masters have taken and that are not over.
class RunWorld final {
 public:
  explicit RunWorld(const RunWorldSetup& setup);
  RunWorld(const RunWorld&) = delete;
  RunWorld& operator=(const RunWorld&) = delete;

  /// The world as workers' executors ask it.
  ExecutionModel& model() { return named_; }
  /// By the names of the workload. The job of the event has to stay alive until its end was seen.
  void see(const Event& event);
  /// Something progresses or will, once it is initialised.
  bool busy() const { return batch_.busy(); }
  /// Work that was done and lost, in seconds of a task that runs alone.
  double lost_s() const { return batch_.lost_s(); }

 private:
  /// Leads to the part of the world that knows a task.
  class Divided final : public ExecutionModel {
   public:
    explicit Divided(RunWorld& world) : world_(world) {}

    Instant instant(Instant now) const override { return world_.batch_.instant(now); }
    void load(const LoadedTask& task) override { part(task.task).load(task); }
    void unload(TaskId task) override { part(task).unload(task); }
    void lose(TaskId task) override { part(task).lose(task); }
    double throughput(TaskId task) const override { return part(task).throughput(task); }
    std::optional<ExecutionProgress> progress(TaskId task) const override {
      return part(task).progress(task);
    }
    std::optional<ReplicaWord> replica(TaskId task) const override {
      return part(task).replica(task);
    }

   private:
    ExecutionModel& part(TaskId task) const;

    RunWorld& world_;
  };

  const JobSource& workload_;
  JobIndex index_;
  World batch_;
  ServiceWorld services_;
  Divided divided_;
  NamedModel named_;
  std::map<std::pair<std::uint32_t, JobId>, const Job*> open_parts_;  ///< of the log
};

}  // namespace muster::replay

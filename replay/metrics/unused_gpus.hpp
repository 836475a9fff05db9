#pragma once

#include <optional>
#include <unordered_map>

#include "model/catalog.hpp"
#include "model/event.hpp"
#include "replay/metrics/run_result.hpp"

namespace muster::metrics {

/// Adds up over time where GPUs are that are paid for and that no task holds. An instance is rented
/// from its order to the decision to give it back.
class UnusedGpus {
 public:
  explicit UnusedGpus(const Catalog& catalog) : catalog_(&catalog) {}

  void apply(const Event& event);
  /// Nothing where no instance with a GPU was ordered.
  std::optional<UnusedGpuHours> finish() const;

 private:
  enum class Phase { starting, ready, leaving };
  struct Instance {
    double gpus = 0;
    double held = 0;
    Phase phase = Phase::starting;
  };
  struct Holder {
    InstanceId instance;
    double gpus = 0;
  };

  void advance(Instant now);
  void enter(InstanceId id, Phase phase);
  void remove(InstanceId id);
  void hold(const StartIssued& start);
  void release(TaskId task);
  void count(const Instance& instance, double sign);

  const Catalog* catalog_;
  std::unordered_map<InstanceId, Instance> instances_;
  std::unordered_map<TaskId, Holder> held_;
  UnusedGpuHours level_;  ///< GPUs now, under the names of their hours
  UnusedGpuHours sum_;
  Instant now_;
  bool any_ = false;
};

}  // namespace muster::metrics

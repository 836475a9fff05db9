#pragma once

#include <map>

#include "model/catalog.hpp"
#include "model/event.hpp"

namespace muster::pareto {

/// Adds up what the instances of an event log have of GPUs, each from its launch to the decision to
/// give it back (the paper's 6.2) or, where the cloud takes it sooner, to its end. Instances that
/// are refused never were. Where no type of the catalog has a GPU, cores are counted.
class RentedGpus {
 public:
  explicit RentedGpus(const Catalog& catalog);

  /// Events by rising time.
  void apply(const Event& event);
  /// GPU-hours of the instances that were given back.
  double gpu_h() const { return gpu_h_; }

 private:
  struct Rented {
    Instant since;
    double gpus = 0;
  };

  void end(InstanceId id, Instant at);

  const Catalog& catalog_;
  Resource counted_ = Resource::cpu;
  std::map<InstanceId, Rented> rented_;
  double gpu_h_ = 0;
};

}  // namespace muster::pareto

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/replay_parts.hpp"

namespace muster::replay {

/// The truth about how tasks on one instance slow each other.
class Interference {
 public:
  virtual ~Interference() = default;

  /// The model's number for a workload name; names it does not know get one too.
  virtual std::uint32_t index_of(const std::string& workload) = 0;

  /// Normalised throughput (0..1] of each of the workloads that run on one instance, in their
  /// order.
  virtual std::vector<double> throughput(std::span<const std::uint32_t> together) const = 0;

  /// Beside any neighbours a task's throughput is at most the product of these, and at most 1. Of
  /// a model that is no product of pairs: 1.
  virtual double pair_at_most(std::uint32_t /*workload*/, std::uint32_t /*neighbour*/) const {
    return 1;
  }
  /// No task slows another.
  virtual bool is_harmless() const { return false; }
  /// The throughput is that very product.
  virtual bool is_product() const { return false; }
};

/// A way to say how tasks slow each other, as it describes itself.
struct InterferenceModel {
  ReplayPart part;  ///< its name and the keys that it alone reads
  std::function<Expected<std::unique_ptr<Interference>, ConfigError>(const InterferenceConfig&)>
      make;
};

// The function that describes each model; replay/interference_models.def is the list.
#define MUSTER_INTERFERENCE(NAME) InterferenceModel NAME##_interference();
#include "replay/interference_models.def"
#undef MUSTER_INTERFERENCE

/// All models.
const std::vector<InterferenceModel>& interference_models();

/// Builds the model that the config names.
Expected<std::unique_ptr<Interference>, ConfigError> make_interference(
    const InterferenceConfig& config);

}  // namespace muster::replay

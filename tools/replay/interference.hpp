#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/replay_config.hpp"

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
};

/// Builds the model that the config names; reads the matrix file of the pairwise one.
Expected<std::unique_ptr<Interference>, ConfigError> make_interference(
    const InterferenceConfig& config);

}  // namespace muster::replay

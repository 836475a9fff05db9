#pragma once

#include <cstdint>
#include <vector>

#include "model/elastic.hpp"

namespace muster {

/// The passes of each worker in one step of training.
struct BatchChoice {
  std::uint32_t local_batch = 1;   ///< samples in a pass
  std::uint32_t accumulation = 0;  ///< passes before the one that ends the step

  /// Samples of all workers in a step.
  std::uint32_t total(std::uint32_t replicas) const {
    return replicas * local_batch * (accumulation + 1);
  }

  friend bool operator==(const BatchChoice&, const BatchChoice&) = default;
};

/// How many total batches an agent looks at (Pollux).
inline constexpr std::uint32_t kBatchCandidates = 50;

/// How `total` samples are split over workers and passes: as few passes as `local_max` allows. One
/// worker that goes beyond the initial batch needs two passes, since one pass tells it nothing of
/// the gradient's variance. Not held against the bounds.
BatchChoice split_batch(const BatchLimits& limits, std::uint32_t replicas, double total);

/// The splits of kBatchCandidates total batches between the least and the largest one, spaced
/// geometrically, rising, without repetitions and without those whose local batch is out of bounds;
/// empty when the workers' least batches together exceed the largest batch. Splits are rounded up,
/// so that some may exceed the largest batch: see capped_batch().
std::vector<BatchChoice> batch_candidates(const BatchLimits& limits, std::uint32_t replicas);

/// Where a job begins that has no model yet: the least batch that its workers can share.
BatchChoice first_batch(const BatchLimits& limits, std::uint32_t replicas);

/// `choice` with passes left out and the local batch lowered until the total is within the largest
/// one, or is one sample a worker.
BatchChoice capped_batch(const BatchLimits& limits, std::uint32_t replicas, BatchChoice choice);

}  // namespace muster

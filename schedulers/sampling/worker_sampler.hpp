#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/sampling/protocol.hpp"

namespace muster::sampling {

/// Draws workers out of a set, all of them alike.
class WorkerSampler {
 public:
  WorkerSampler() = default;
  explicit WorkerSampler(std::vector<WorkerIndex> workers) : workers_(std::move(workers)) {}

  bool empty() const { return workers_.empty(); }

  /// That number of different ones. Of more than there are, each comes as often as any other, give
  /// or take one. Takes time in proportion to `count`.
  std::vector<WorkerIndex> distinct(std::size_t count, Rng& rng);
  /// Each drawn from all; the set must not be empty.
  std::vector<WorkerIndex> with_repeats(std::size_t count, Rng& rng) const;
  /// Each drawn from all those that are `wanted`; empty when no worker is.
  std::vector<WorkerIndex> with_repeats(std::size_t count,
                                        const std::function<bool(WorkerIndex)>& wanted,
                                        Rng& rng) const;

 private:
  std::vector<WorkerIndex> workers_;  ///< in the order that earlier draws have left
};

}  // namespace muster::sampling

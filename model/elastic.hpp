#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster {

/// A stretch of an elastic job's work in which its speedup is one function of its width.
struct ElasticEpoch {
  double until = 0;       ///< the job's progress when it ends, in the job's unit; rising
  double rate_per_s = 0;  ///< progress of one worker; 0: not known
  /// Of widths 1, 2, ... on as few instances as hold them, relative to one worker; empty: not
  /// known.
  std::vector<double> speedup{};
  /// Of widths 2, 3, ... on more instances than need be; widths that are missing: as `speedup`.
  std::vector<double> spread{};

  friend bool operator==(const ElasticEpoch&, const ElasticEpoch&) = default;
};

/// Between which bounds a training job chooses its batches, in samples (Pollux).
struct BatchLimits {
  std::uint32_t initial = 1;    ///< the total batch by whose steps progress is counted
  std::uint32_t largest = 1;    ///< of all workers together
  std::uint32_t local_min = 1;  ///< of one worker, in one pass
  std::uint32_t local_max = 1;

  friend bool operator==(const BatchLimits&, const BatchLimits&) = default;
};

/// What a training job measured of its latest step: what goodput is learnt from (Pollux 3.2).
struct TrainingSample {
  std::uint32_t nodes = 1;         ///< instances that its workers were on
  std::uint32_t replicas = 1;      ///< workers
  std::uint32_t local_batch = 1;   ///< samples of one worker in one pass
  std::uint32_t accumulation = 0;  ///< passes before the one that ends the step
  double step_s = 0;               ///< of a pass with its synchronisation
  double sync_s = 0;               ///< the synchronisation in it
  double grad_sqr = 0;             ///< squared norm of the gradient, at this batch
  double grad_var = 0;             ///< its variance, likewise

  friend bool operator==(const TrainingSample&, const TrainingSample&) = default;
};

}  // namespace muster

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace muster {

/// Most workers of an elastic job: learnt speeds tell no more widths apart.
inline constexpr std::uint32_t kWidestJob = 1024;
/// Largest batch, far beyond any that is trained with; keeps products within 32 bits.
inline constexpr std::uint32_t kLargestBatch = 1U << 24;
/// Most progress of a job, in any unit: a bound on the word of its program.
inline constexpr double kMostProgress = 1e15;

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

/// The speedup of that many workers in the epoch: of more than are listed, as the most; 1 where
/// nothing is known. `spread`: they are on more instances than need be.
inline double speedup_of(const ElasticEpoch& epoch, std::uint32_t width, bool spread = false) {
  if (spread && width >= 2 && width - 2 < epoch.spread.size()) return epoch.spread[width - 2];
  if (epoch.speedup.empty() || width == 0) return 1;
  return epoch.speedup[std::min<std::size_t>(width, epoch.speedup.size()) - 1];
}

/// The epochs of a job, which jobs of one class share: a copy of it shares them too.
class ElasticEpochs {
 public:
  ElasticEpochs() = default;
  explicit ElasticEpochs(std::vector<ElasticEpoch> all)
      : all_(all.empty() ? nullptr
                         : std::make_shared<const std::vector<ElasticEpoch>>(std::move(all))) {}

  std::span<const ElasticEpoch> all() const {
    return all_ ? std::span<const ElasticEpoch>(*all_) : std::span<const ElasticEpoch>();
  }
  bool empty() const { return all_ == nullptr; }
  /// The epoch that holds at that progress: the last one when all is done.
  std::size_t at(double done) const {
    const auto epochs = all();
    std::size_t epoch = 0;
    while (epoch + 1 < epochs.size() && epochs[epoch].until <= done) ++epoch;
    return epoch;
  }

  friend bool operator==(const ElasticEpochs& a, const ElasticEpochs& b) {
    return a.all_ == b.all_ || std::ranges::equal(a.all(), b.all());
  }

 private:
  std::shared_ptr<const std::vector<ElasticEpoch>> all_;  ///< null: no epochs
};

/// Between which bounds a training job chooses its batches, in samples (Pollux).
struct BatchLimits {
  std::uint32_t initial = 1;    ///< the total batch by whose steps progress is counted
  std::uint32_t largest = 1;    ///< of all workers together
  std::uint32_t local_min = 1;  ///< of one worker, in one pass
  std::uint32_t local_max = 1;

  friend bool operator==(const BatchLimits&, const BatchLimits&) = default;
};

/// Measurement of a training job's latest step, from which goodput is learnt (Pollux 3.2).
struct TrainingSample {
  std::uint32_t nodes = 1;         ///< instances that its workers were on; 0: as its master knows
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

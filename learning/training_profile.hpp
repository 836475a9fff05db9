#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "learning/batch_choice.hpp"
#include "learning/goodput_model.hpp"
#include "learning/gradient_noise.hpp"
#include "model/elastic.hpp"
#include "model/time.hpp"

// Measured facts of the training jobs of a class (the profiles published with Pollux): how far a
// step brings them and how long it takes.

namespace muster {

/// Workers on each of the nodes that a job has, each above 0.
using WorkerCounts = std::vector<std::uint32_t>;

/// Workers of the nodes that were measured.
inline constexpr std::uint32_t kWorkersOfNode = 4;
/// Up to here each placement was measured apart; beyond, nodes and workers alone count.
inline constexpr std::uint32_t kPlacedNodes = 4;
/// More nodes than these count as these.
inline constexpr std::uint32_t kMeasuredNodes = 16;

/// How long the pass that ends a step takes at some local batches.
class PassCurve {
 public:
  struct Point {
    std::uint32_t local_batch = 0;
    double step_s = 0;  ///< with the synchronisation
    double sync_s = 0;  ///< the synchronisation in it
  };

  /// Points come by rising batches, at least one.
  void add(const Point& point);

  std::uint32_t smallest() const { return points_.front().local_batch; }
  std::uint32_t largest() const { return points_.back().local_batch; }
  bool empty() const { return points_.empty(); }
  bool covers(std::uint32_t local_batch) const {
    return !empty() && local_batch >= smallest() && local_batch <= largest();
  }
  /// Linear between the points; the batch has to be covered.
  Point at(std::uint32_t local_batch) const;

  /// The largest batch that was measured and not interpolated from other placements.
  std::uint32_t profiled_max() const { return std::min(profiled_max_, largest()); }
  void set_profiled_max(std::uint32_t local_batch) { profiled_max_ = local_batch; }

 private:
  std::vector<Point> points_;
  std::uint32_t profiled_max_ = UINT32_MAX;
};

/// A total batch that the class was trained with.
struct ValidatedBatch {
  std::uint32_t total = 0;
  std::vector<GradientNoise> noise;  ///< by epoch
};

/// A class of training jobs. Its progress counts in steps at the initial batch.
struct TrainingProfile {
  std::string name;
  BatchLimits limits;
  std::uint32_t max_width = kMostReplicas;
  std::uint32_t pinned_total = 0;             ///< the only total batch there is; 0: a job chooses
  std::vector<double> ends;                   ///< progress at the end of each epoch
  std::vector<ValidatedBatch> validated;      ///< by rising batch
  std::map<std::uint32_t, PassCurve> placed;  ///< by placement_code()
  std::map<std::pair<std::uint32_t, std::uint32_t>, PassCurve> spread;  ///< by nodes and workers
  double slowdown = 1;       ///< of real jobs against what was measured
  Duration rescale_delay{};  ///< whenever a job starts on other workers
  /// Whether agents, and whether oracles, keep local batches within profiled_max().
  bool agent_within_profiled = false;
  bool oracle_within_profiled = false;

  std::uint32_t epochs() const { return static_cast<std::uint32_t>(ends.size()); }
};

/// The workers' digits, node by node, read as a number: of all rotations the first by the alphabet.
/// At most kPlacedNodes nodes, each of at most kWorkersOfNode workers.
std::uint32_t placement_code(std::span<const std::uint32_t> workers);

/// That number of workers on as few nodes as hold them: full ones and the rest.
WorkerCounts packed_workers(std::uint32_t replicas);

/// Measurement of workers on that number of nodes; null when they were never measured. A node with
/// more workers than those that were measured counts as several.
const PassCurve* curve_of(const TrainingProfile& profile, std::span<const std::uint32_t> workers);

/// Linear between the two validated batches around `total`; beyond them all that of the outermost.
GradientNoise noise_at(const TrainingProfile& profile, std::uint32_t epoch, std::uint32_t total);

/// Workers of a job whose passes take what a curve says.
struct PlacedWorkers {
  const PassCurve* curve = nullptr;
  std::uint32_t replicas = 0;
};

/// Progress a second, without slowdown; the curve has to cover the local batch.
double true_rate(const TrainingProfile& profile, const PlacedWorkers& workers, std::uint32_t epoch,
                 const BatchChoice& batch);

/// The candidate that is best by the truth, and its rate without slowdown; the first one wins ties.
/// A rate of 0: no candidate was measured.
RatedBatch best_by_truth(const TrainingProfile& profile, const PlacedWorkers& workers,
                         std::uint32_t epoch);

/// Seconds that one worker takes for an epoch, with the slowdown.
double epoch_s(const TrainingProfile& profile, std::uint32_t epoch);

/// Statement of a job of the class on its speedups when it knows all: one entry an epoch, speedups
/// of 1 to `max_width` workers on as few nodes as hold them, raw, and of 2 to kWorkersOfNode
/// workers spread over two.
std::vector<ElasticEpoch> stated_epochs(const TrainingProfile& profile, std::uint32_t max_width);

}  // namespace muster

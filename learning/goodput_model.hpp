#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "learning/batch_choice.hpp"
#include "learning/gradient_noise.hpp"
#include "learning/model_text.hpp"
#include "learning/throughput_fit.hpp"

namespace muster {

/// Workers of one job that a policy counts with at most (Pollux's simulator).
inline constexpr std::uint32_t kMostReplicas = 64;
/// Placements and local batches that a model takes up at most.
inline constexpr std::uint32_t kMostMeasurements = 4096;

/// A batch and what it brings.
struct RatedBatch {
  BatchChoice batch;
  double rate_per_s = 0;  ///< progress, in steps at the initial batch
};

/// The progress a second that a model predicts of a job at its best batches.
struct GoodputTable {
  std::vector<double> one_node;       ///< of 1, 2, ... workers
  std::vector<double> several_nodes;  ///< of 2, 3, ... workers

  /// Of workers on that number of nodes; they have to be in the table.
  double at(std::uint32_t nodes, std::uint32_t replicas) const {
    return nodes > 1 ? several_nodes.at(replicas - 2) : one_node.at(replicas - 1);
  }
};

/// Learns how fast a training job progresses at any width from what it measured at some (Pollux 3
/// and 4.1): a model of a step's time, fitted anew with each placement or local batch that is new,
/// and the noise of the gradient. Jobs of a class may share one: the measurements of each then
/// count for all. Measurements of one kind are averaged.
class GoodputModel {
 public:
  explicit GoodputModel(const BatchLimits& limits);

  /// Learns from a step. False when the sample is impossible, or the model has no more room for it.
  bool observe(const TrainingSample& sample);

  const BatchLimits& limits() const { return limits_; }
  /// Nothing before the first sample.
  const std::optional<ThroughputParams>& params() const { return params_; }
  /// Of the latest sample.
  const GradientNoise& noise() const { return noise_; }
  /// Rises whenever predictions change.
  std::uint64_t version() const { return version_; }
  std::uint32_t largest_replicas() const { return largest_replicas_; }
  /// How many workers a job may be given that has run at these widths: twice the largest, at least
  /// one, at most kMostReplicas and what the largest batch feeds.
  std::uint32_t width_cap() const;

  /// The best batch by the model, which has to have parameters; the first one wins ties. A rate of
  /// 0: that number of workers has no valid batch. `local_max`: a bound that the local batch has to
  /// stay within too.
  RatedBatch best(const WorkerGroup& workers, const GradientNoise& noise) const;
  RatedBatch best(const WorkerGroup& workers, const GradientNoise& noise,
                  std::uint32_t local_max) const;
  /// The batch that an agent chooses: the best one, or before the first sample the least one.
  BatchChoice choose(const WorkerGroup& workers, std::uint32_t local_max) const;
  /// Of up to `of_node` workers on one node and up to `largest` on several.
  GoodputTable table(const GradientNoise& noise, std::uint32_t of_node,
                     std::uint32_t largest = kMostReplicas) const;

  void write(ModelWriter& out) const;
  static GoodputModel read(ModelReader& in);

 private:
  struct Measured {
    std::uint64_t count = 0;
    double step_s = 0;  ///< means
    double sync_s = 0;
    double fitted_step_s = 0;  ///< measurement that the present parameters were fitted to
    double fitted_sync_s = 0;
  };
  /// Nodes, workers, local batch.
  using Kind = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  bool take_up(const TrainingSample& sample);
  void fit();

  BatchLimits limits_;
  GradientNoise noise_;
  std::optional<ThroughputParams> params_;
  std::map<Kind, Measured> measured_;
  std::uint32_t largest_replicas_ = 0;
  std::uint64_t version_ = 0;
};

/// The model as text, and back; any damage to the text is an error that names the line.
std::string goodput_text(const GoodputModel& model);
Expected<GoodputModel, LearnError> parse_goodput(std::string_view text);

}  // namespace muster

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/elastic.hpp"
#include "model/time.hpp"

namespace muster::replay {

/// How fast one elastic job goes, which may depend on what it has been through.
class ElasticPace {
 public:
  virtual ~ElasticPace() = default;

  /// Its workers start on instances, one number of `workers` for each, which could hold `most` of
  /// them.
  virtual void place(std::span<const std::uint32_t> workers, std::uint32_t most) = 0;
  /// Progress a second there in the epoch, above 0. Asked for at the start, in each new epoch and
  /// at the multiples of rechoose_every().
  virtual double rate_per_s(std::size_t epoch) = 0;
  /// 0: the rate stays until the epoch ends.
  virtual Duration rechoose_every() const { return {}; }
  /// The job's measurement of itself at that rate; nothing where it measures nothing.
  virtual std::optional<TrainingSample> sample() const { return std::nullopt; }
};

/// Facts of an elastic job that no scheduler is told.
class ElasticTruth {
 public:
  virtual ~ElasticTruth() = default;

  /// The progress at the ends of its epochs, rising; at the last one the job is done.
  virtual std::span<const double> ends() const = 0;
  virtual std::unique_ptr<ElasticPace> begin() const = 0;
  /// Until there is progress on instances of another family than before, where that is longer than
  /// any other start.
  virtual Duration cold_start() const { return {}; }
};

/// The truth is what a job states: its epochs have rates and speedups.
class StatedTruth final : public ElasticTruth {
 public:
  /// At least one epoch, each with a rate above 0.
  explicit StatedTruth(ElasticEpochs epochs);

  std::span<const double> ends() const override { return ends_; }
  std::unique_ptr<ElasticPace> begin() const override;

 private:
  ElasticEpochs epochs_;
  std::vector<double> ends_;
};

}  // namespace muster::replay

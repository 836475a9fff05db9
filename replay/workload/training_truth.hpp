#pragma once

#include <memory>
#include <span>

#include "learning/training_agent.hpp"
#include "learning/training_profile.hpp"
#include "replay/workload/elastic_truth.hpp"

namespace muster::replay {

/// The truth of a class of training jobs: each of its jobs has an agent of its own that chooses its
/// batches. Where nothing was measured of a placement, workers go as fast as packed ones.
class TrainingTruth final : public ElasticTruth {
 public:
  TrainingTruth(std::shared_ptr<const TrainingProfile> profile, AgentMode mode,
                Duration cold_start = {});

  std::span<const double> ends() const override { return profile_->ends; }
  std::unique_ptr<ElasticPace> begin() const override;
  Duration cold_start() const override { return cold_start_; }

  const TrainingProfile& profile() const { return *profile_; }
  AgentMode mode() const { return mode_; }

 private:
  std::shared_ptr<const TrainingProfile> profile_;
  AgentMode mode_;
  Duration cold_start_;
};

}  // namespace muster::replay

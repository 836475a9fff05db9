#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "learning/goodput_model.hpp"
#include "learning/training_profile.hpp"
#include "model/enum_words.hpp"

namespace muster {

/// How a job chooses its batches.
enum class AgentMode : std::uint8_t {
  oracle,  ///< by the truth
  learned  ///< by a model of what it measured itself (Pollux 4.1)
};
constexpr auto words_of(AgentMode) {
  using E = AgentMode;
  return std::to_array<EnumWord<E>>({{E::oracle, "oracle"}, {E::learned, "learned"}});
}

/// Agent beside a training job: chooses the batch, and measures each step. A simulated one, whose
/// steps take what the profile says.
class TrainingAgent {
 public:
  TrainingAgent(std::shared_ptr<const TrainingProfile> profile, AgentMode mode);

  /// The job's workers are on these nodes from here on, one number for each; 0 and no nodes: it
  /// does not run. False when nothing was measured of such a placement: the job then makes no
  /// progress.
  bool place(std::span<const std::uint32_t> workers_of_nodes);

  /// Chooses the batch anew by all that was measured before, makes a step with it in the given
  /// epoch, and learns from that step. Returns the job's progress a second until the next choice,
  /// which is due when the epoch or the placement changes, and regularly; 0 without a placement.
  double choose(std::uint32_t epoch);

  /// The batch of the latest step.
  const BatchChoice& batch() const { return batch_; }
  /// Measurement of the latest step; nothing before the first one.
  const std::optional<TrainingSample>& sample() const { return sample_; }
  /// The job's learnt model; an oracle learns nothing.
  const GoodputModel& model() const { return model_; }
  const TrainingProfile& profile() const { return *profile_; }
  AgentMode mode() const { return mode_; }

 private:
  BatchChoice wanted(std::uint32_t epoch) const;
  void measure(std::uint32_t epoch);

  std::shared_ptr<const TrainingProfile> profile_;
  AgentMode mode_;
  GoodputModel model_;
  PlacedWorkers workers_;
  std::uint32_t nodes_ = 0;
  BatchChoice batch_;
  std::optional<TrainingSample> sample_;
  /// Inputs of the latest choice, and its result: equal inputs give the result again.
  std::optional<std::pair<std::uint32_t, std::uint64_t>> chosen_by_;
  double rate_per_s_ = 0;
};

}  // namespace muster

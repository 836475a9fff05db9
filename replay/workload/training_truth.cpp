#include "replay/workload/training_truth.hpp"

#include <numeric>
#include <utility>

#include "model/check.hpp"

namespace muster::replay {
namespace {

/// Interval at which an agent's learning from its latest step counts (Pollux's simulator).
constexpr Duration kAgentPeriod = std::chrono::seconds{60};

class TrainingPace final : public ElasticPace {
 public:
  TrainingPace(std::shared_ptr<const TrainingProfile> profile, AgentMode mode)
      : agent_(std::move(profile), mode) {}

  void place(std::span<const std::uint32_t> workers, std::uint32_t /*most*/) override {
    if (agent_.place(workers)) return;
    const bool measured =
        agent_.place(packed_workers(std::accumulate(workers.begin(), workers.end(), 0U)));
    MUSTER_CHECK(measured, "a job is no wider than was measured of packed workers");
  }
  double rate_per_s(std::size_t epoch) override {
    return agent_.choose(static_cast<std::uint32_t>(epoch));
  }
  Duration rechoose_every() const override {
    return agent_.mode() == AgentMode::learned ? kAgentPeriod : Duration{};
  }
  std::optional<TrainingSample> sample() const override { return agent_.sample(); }

 private:
  TrainingAgent agent_;
};

}  // namespace

TrainingTruth::TrainingTruth(std::shared_ptr<const TrainingProfile> profile, AgentMode mode,
                             Duration cold_start)
    : profile_(std::move(profile)), mode_(mode), cold_start_(cold_start) {}

std::unique_ptr<ElasticPace> TrainingTruth::begin() const {
  return std::make_unique<TrainingPace>(profile_, mode_);
}

}  // namespace muster::replay

#include "replay/workload/elastic_truth.hpp"

#include <numeric>
#include <utility>

#include "model/check.hpp"

namespace muster::replay {
namespace {

class StatedPace final : public ElasticPace {
 public:
  explicit StatedPace(ElasticEpochs epochs) : epochs_(std::move(epochs)) {}

  void place(std::span<const std::uint32_t> workers, std::uint32_t most) override {
    width_ = std::accumulate(workers.begin(), workers.end(), 0U);
    spread_ = workers.size() > (width_ + most - 1) / most;
  }
  double rate_per_s(std::size_t epoch) override {
    const ElasticEpoch& now = epochs_.all()[epoch];
    return now.rate_per_s * speedup_of(now, width_, spread_);
  }

 private:
  ElasticEpochs epochs_;
  std::uint32_t width_ = 1;
  bool spread_ = false;
};

}  // namespace

StatedTruth::StatedTruth(ElasticEpochs epochs) : epochs_(std::move(epochs)) {
  MUSTER_CHECK(!epochs_.empty(), "an elastic job has at least one epoch");
  for (const ElasticEpoch& epoch : epochs_.all()) {
    MUSTER_CHECK(epoch.rate_per_s > 0, "an epoch ends only when there is progress");
    ends_.push_back(epoch.until);
  }
}

std::unique_ptr<ElasticPace> StatedTruth::begin() const {
  return std::make_unique<StatedPace>(epochs_);
}

}  // namespace muster::replay

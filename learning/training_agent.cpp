#include "learning/training_agent.hpp"

#include <algorithm>
#include <utility>

#include "model/check.hpp"

namespace muster {

TrainingAgent::TrainingAgent(std::shared_ptr<const TrainingProfile> profile, AgentMode mode)
    : profile_(std::move(profile)), mode_(mode), model_(profile_->limits) {
  MUSTER_CHECK(profile_->epochs() > 0, "a profile without an epoch");
}

bool TrainingAgent::place(std::span<const std::uint32_t> workers_of_nodes) {
  nodes_ = 0;
  workers_ = {};
  chosen_by_.reset();
  for (const std::uint32_t workers : workers_of_nodes) {
    if (workers > 0) ++nodes_;
    workers_.replicas += workers;
  }
  if (workers_.replicas == 0) return true;
  workers_.curve = curve_of(*profile_, workers_of_nodes);
  return workers_.curve != nullptr;
}

double TrainingAgent::choose(std::uint32_t epoch) {
  if (workers_.curve == nullptr) return 0;
  const std::pair made_of{epoch, model_.version()};
  if (chosen_by_ == made_of) return rate_per_s_;
  chosen_by_ = made_of;
  batch_ = wanted(epoch);
  // The time of a pass beyond the measured batches is not known.
  batch_.local_batch =
      std::clamp(batch_.local_batch, workers_.curve->smallest(), workers_.curve->largest());
  measure(epoch);
  rate_per_s_ = true_rate(*profile_, workers_, epoch, batch_) / profile_->slowdown;
  return rate_per_s_;
}

BatchChoice TrainingAgent::wanted(std::uint32_t epoch) const {
  const BatchLimits& limits = profile_->limits;
  if (profile_->pinned_total > 0) {
    return capped_batch(limits, workers_.replicas,
                        split_batch(limits, workers_.replicas, profile_->pinned_total));
  }
  if (mode_ == AgentMode::oracle) return best_by_truth(*profile_, workers_, epoch).batch;
  const WorkerGroup group{.replicas = workers_.replicas, .several_nodes = nodes_ > 1};
  const bool within = profile_->agent_within_profiled;
  return model_.choose(group, within ? workers_.curve->profiled_max() : limits.local_max);
}

void TrainingAgent::measure(std::uint32_t epoch) {
  const PassCurve::Point pass = workers_.curve->at(batch_.local_batch);
  const GradientNoise noise = noise_at(*profile_, epoch, batch_.total(workers_.replicas));
  sample_ = TrainingSample{.nodes = nodes_,
                           .replicas = workers_.replicas,
                           .local_batch = batch_.local_batch,
                           .accumulation = batch_.accumulation,
                           .step_s = pass.step_s * profile_->slowdown,
                           .sync_s = pass.sync_s * profile_->slowdown,
                           .grad_sqr = noise.sqr,
                           .grad_var = noise.var};
  if (mode_ == AgentMode::learned) model_.observe(*sample_);
}

}  // namespace muster

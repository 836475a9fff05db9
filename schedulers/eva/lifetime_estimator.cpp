#include "schedulers/eva/lifetime_estimator.hpp"

#include <algorithm>

namespace muster::eva {

LifetimeEstimator::Estimate LifetimeEstimator::known() const {
  // Before the first event there is no share to speak of: 0 / 1.
  const auto events = static_cast<double>(std::max<std::uint64_t>(1, events_.count()));
  return {events_.per_s(), static_cast<double>(full_) / events, std::nullopt};
}

LifetimeEstimator::Estimate LifetimeEstimator::estimate(Instant now) const {
  Estimate result = known();
  if (result.probability > 0 && result.rate_per_s) {
    result.lifetime_s =
        // More rounds than events may have chosen Full; a probability is at most 1.
        mean_time_to_success_s(*result.rate_per_s, std::min(1.0, result.probability));
  } else {
    result.lifetime_s = events_.count() == 0 ? 0 : to_seconds(now - events_.first());
  }
  return result;
}

LifetimeEstimator::Estimate LifetimeEstimator::estimate_of_artifact(Instant now) const {
  Estimate result = known();
  // The artifact's clock begins with the cluster.
  if (full_ == 0) {
    result.lifetime_s = to_seconds(now);
  } else if (result.rate_per_s) {
    result.lifetime_s = mean_time_to_success_s(*result.rate_per_s, result.probability);
  }
  return result;
}

}  // namespace muster::eva

#include "learning/job_features.hpp"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

double share(const Resources& in_use, const Resources& capacity, Resource kind) {
  if (capacity[kind] <= kResourceEpsilon) return 0;
  return std::clamp(in_use[kind] / capacity[kind], 0.0, 1.0);
}

// Demands and numbers of tasks spread over orders of magnitude; shares of use do not.
bool heavy_tailed(std::size_t feature) {
  return feature <= static_cast<std::size_t>(Feature::tasks);
}

double flattened(const JobFeatures& features, std::size_t feature) {
  return heavy_tailed(feature) ? std::log1p(std::max(0.0, features[feature])) : features[feature];
}

}  // namespace

SystemUse SystemUse::of(const Resources& in_use, const Resources& capacity) {
  return {.cpu = share(in_use, capacity, Resource::cpu),
          .memory = share(in_use, capacity, Resource::memory),
          .storage = share(in_use, capacity, Resource::storage),
          .gpu = share(in_use, capacity, Resource::gpu)};
}

Resources counted_demand(const TaskSpec& task) {
  Resources largest;
  for (const FamilyDemand& entry : task.demands.entries()) {
    for (const Resource kind : kAllResources) {
      largest[kind] = std::max(largest[kind], entry.amount[kind]);
    }
  }
  return largest;
}

Resources counted_demand(const Job& job) {
  Resources sum;
  for (const TaskSpec& task : job.tasks) sum += counted_demand(task);
  return sum;
}

JobFeatures features_of(const Job& job, const SystemUse& use) {
  const Resources asked = counted_demand(job);
  return {asked[Resource::cpu],
          asked[Resource::memory],
          asked[Resource::storage],
          asked[Resource::gpu],
          static_cast<double>(job.task_count()),
          use.cpu,
          use.memory,
          use.storage,
          use.gpu};
}

void FeatureScale::include(const JobFeatures& features) {
  for (std::size_t i = 0; i < kFeatures; ++i) {
    const double value = flattened(features, i);
    low_[i] = empty_ ? value : std::min(low_[i], value);
    high_[i] = empty_ ? value : std::max(high_[i], value);
  }
  empty_ = false;
}

JobFeatures FeatureScale::apply(const JobFeatures& features) const {
  JobFeatures scaled{};
  for (std::size_t i = 0; i < kFeatures; ++i) {
    // Equal for all jobs of the training: it tells nothing.
    if (high_[i] <= low_[i]) continue;
    // Beyond what was seen in training the machine must not extrapolate.
    const double value = std::clamp(flattened(features, i), low_[i], high_[i]);
    scaled[i] = 2 * (value - low_[i]) / (high_[i] - low_[i]) - 1;
  }
  return scaled;
}

void FeatureScale::write(ModelWriter& out) const {
  out.line("scale").whole(empty_ ? 1 : 0);
  for (std::size_t i = 0; i < kFeatures; ++i) out.number(low_[i]).number(high_[i]);
}

FeatureScale FeatureScale::read(ModelReader& in) {
  FeatureScale scale;
  in.line("scale");
  scale.empty_ = in.whole(0, 1) == 1;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    scale.low_[i] = in.number(-kGreatestLearnt, kGreatestLearnt);
    scale.high_[i] = in.number(scale.low_[i], kGreatestLearnt);
  }
  return scale;
}

}  // namespace muster

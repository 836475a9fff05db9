#include "learning/training_profile.hpp"

#include <algorithm>
#include <numeric>

#include "model/check.hpp"

namespace muster {
namespace {

/// The rate of that number of packed workers in an epoch, 0 where it was never measured.
double packed_rate(const TrainingProfile& profile, const WorkerCounts& workers,
                   std::uint32_t epoch) {
  const PassCurve* curve = curve_of(profile, workers);
  if (curve == nullptr) return 0;
  const auto replicas = std::accumulate(workers.begin(), workers.end(), 0U);
  return best_by_truth(profile, {curve, replicas}, epoch).rate_per_s;
}

}  // namespace

void PassCurve::add(const Point& point) {
  MUSTER_CHECK(points_.empty() || points_.back().local_batch < point.local_batch,
               "points of a curve rise");
  points_.push_back(point);
}

PassCurve::Point PassCurve::at(std::uint32_t local_batch) const {
  MUSTER_CHECK(covers(local_batch), "a batch outside what was measured");
  const auto above = std::lower_bound(
      points_.begin(), points_.end(), local_batch,
      [](const Point& point, std::uint32_t batch) { return point.local_batch < batch; });
  if (above->local_batch == local_batch) return *above;
  const Point& low = *std::prev(above);
  const double share =
      static_cast<double>(local_batch - low.local_batch) / (above->local_batch - low.local_batch);
  return {local_batch, low.step_s + share * (above->step_s - low.step_s),
          low.sync_s + share * (above->sync_s - low.sync_s)};
}

std::uint32_t placement_code(std::span<const std::uint32_t> workers) {
  MUSTER_CHECK(!workers.empty() && workers.size() <= kPlacedNodes, "a placement that has a code");
  std::uint32_t least = UINT32_MAX;
  for (std::size_t first = 0; first < workers.size(); ++first) {
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const std::uint32_t digit = workers[(first + i) % workers.size()];
      MUSTER_CHECK(digit >= 1 && digit <= kWorkersOfNode, "a node as it was measured");
      code = code * 10 + digit;
    }
    // Codes of one placement have as many digits, so that the order of numbers is that of texts.
    least = std::min(least, code);
  }
  return least;
}

WorkerCounts packed_workers(std::uint32_t replicas) {
  WorkerCounts workers(replicas / kWorkersOfNode, kWorkersOfNode);
  if (replicas % kWorkersOfNode > 0) workers.push_back(replicas % kWorkersOfNode);
  return workers;
}

const PassCurve* curve_of(const TrainingProfile& profile, std::span<const std::uint32_t> workers) {
  WorkerCounts nodes;
  std::uint32_t replicas = 0;
  for (std::uint32_t left : workers) {
    replicas += left;
    for (; left > kWorkersOfNode; left -= kWorkersOfNode) nodes.push_back(kWorkersOfNode);
    if (left > 0) nodes.push_back(left);
  }
  if (nodes.empty()) return nullptr;
  if (nodes.size() <= kPlacedNodes) {
    const auto found = profile.placed.find(placement_code(nodes));
    return found == profile.placed.end() ? nullptr : &found->second;
  }
  const auto count = std::min(static_cast<std::uint32_t>(nodes.size()), kMeasuredNodes);
  const auto found = profile.spread.find({count, replicas});
  return found == profile.spread.end() ? nullptr : &found->second;
}

GradientNoise noise_at(const TrainingProfile& profile, std::uint32_t epoch, std::uint32_t total) {
  const auto& validated = profile.validated;
  const auto above = std::lower_bound(
      validated.begin(), validated.end(), total,
      [](const ValidatedBatch& batch, std::uint32_t wanted) { return batch.total < wanted; });
  if (above == validated.end()) return validated.back().noise.at(epoch);
  if (above == validated.begin() || above->total == total) return above->noise.at(epoch);
  const ValidatedBatch& below = *std::prev(above);
  const GradientNoise& low = below.noise.at(epoch);
  const GradientNoise& high = above->noise.at(epoch);
  const double from_low = total - below.total;
  const double to_high = above->total - total;
  const double span = above->total - below.total;
  return {.sqr = (from_low * high.sqr + to_high * low.sqr) / span,
          .var = (from_low * high.var + to_high * low.var) / span};
}

double true_rate(const TrainingProfile& profile, const PlacedWorkers& workers, std::uint32_t epoch,
                 const BatchChoice& batch) {
  const PassCurve::Point pass = workers.curve->at(batch.local_batch);
  const std::uint32_t total = batch.total(workers.replicas);
  const double scale = static_cast<double>(total) / profile.limits.initial;
  const double step_s = pass.step_s + batch.accumulation * (pass.step_s - pass.sync_s);
  return step_gain(noise_at(profile, epoch, total), scale) / step_s;
}

RatedBatch best_by_truth(const TrainingProfile& profile, const PlacedWorkers& workers,
                         std::uint32_t epoch) {
  if (profile.pinned_total > 0) {
    const BatchChoice pinned = split_batch(profile.limits, workers.replicas, profile.pinned_total);
    if (!workers.curve->covers(pinned.local_batch)) return {};
    return {pinned, true_rate(profile, workers, epoch, pinned)};
  }
  BatchLimits limits = profile.limits;
  const PassCurve& curve = *workers.curve;
  const bool within = profile.oracle_within_profiled;
  limits.local_max = std::min(limits.local_max, within ? curve.profiled_max() : curve.largest());
  RatedBatch best;
  for (const BatchChoice& candidate : batch_candidates(limits, workers.replicas)) {
    const BatchChoice batch = capped_batch(limits, workers.replicas, candidate);
    if (!curve.covers(batch.local_batch)) continue;
    const double rate = true_rate(profile, workers, epoch, batch);
    if (rate > best.rate_per_s) best = {batch, rate};
  }
  return best;
}

double epoch_s(const TrainingProfile& profile, std::uint32_t epoch) {
  const double begin = epoch == 0 ? 0 : profile.ends.at(epoch - 1);
  const double rate = packed_rate(profile, packed_workers(1), epoch);
  return (profile.ends.at(epoch) - begin) / rate * profile.slowdown;
}

std::vector<ElasticEpoch> stated_epochs(const TrainingProfile& profile, std::uint32_t max_width) {
  const std::uint32_t widths = std::min(max_width, profile.max_width);
  std::vector<ElasticEpoch> epochs;
  for (std::uint32_t e = 0; e < profile.epochs(); ++e) {
    const double alone = packed_rate(profile, packed_workers(1), e);
    ElasticEpoch& epoch = epochs.emplace_back();
    epoch.until = profile.ends[e];
    epoch.rate_per_s = alone / profile.slowdown;
    for (std::uint32_t k = 1; k <= widths; ++k) {
      epoch.speedup.push_back(packed_rate(profile, packed_workers(k), e) / alone);
    }
    for (std::uint32_t k = 2; k <= std::min(widths, kWorkersOfNode); ++k) {
      epoch.spread.push_back(packed_rate(profile, {k / 2, k - k / 2}, e) / alone);
    }
  }
  return epochs;
}

}  // namespace muster

#include "learning/batch_choice.hpp"

#include <algorithm>
#include <cmath>

#include "model/check.hpp"

namespace muster {
namespace {

/// Quotients this little above a whole number count as it.
constexpr double kRoundingSlack = 1e-8;

std::uint32_t round_up(double value) {
  return static_cast<std::uint32_t>(std::ceil(value - kRoundingSlack));
}

/// The least total batch of that number of workers.
double least_total(const BatchLimits& limits, std::uint32_t replicas) {
  return std::max<double>(limits.initial, static_cast<double>(limits.local_min) * replicas);
}

}  // namespace

BatchChoice split_batch(const BatchLimits& limits, std::uint32_t replicas, double total) {
  MUSTER_CHECK(replicas > 0 && limits.local_max > 0, "a batch is split over workers");
  const double of_worker = total / replicas;
  BatchChoice choice;
  choice.accumulation = std::max(round_up(of_worker / limits.local_max), 1U) - 1;
  if (replicas == 1 && of_worker > limits.initial + kRoundingSlack) {
    choice.accumulation = std::max(choice.accumulation, 1U);
  }
  choice.local_batch = std::max(round_up(of_worker / (choice.accumulation + 1)), 1U);
  return choice;
}

std::vector<BatchChoice> batch_candidates(const BatchLimits& limits, std::uint32_t replicas) {
  const double least = least_total(limits, replicas);
  const double largest = limits.largest;
  std::vector<BatchChoice> candidates;
  if (least > largest) return candidates;
  candidates.reserve(kBatchCandidates);
  const double log_ratio = std::log(largest / least);
  for (std::uint32_t i = 0; i < kBatchCandidates; ++i) {
    // The ends are exact: rounding there would make one sample more.
    const double total = i == 0 ? least
                         : i + 1 == kBatchCandidates
                             ? largest
                             : least * std::exp(log_ratio * i / (kBatchCandidates - 1));
    const BatchChoice choice = split_batch(limits, replicas, total);
    const bool fits =
        choice.local_batch >= limits.local_min && choice.local_batch <= limits.local_max;
    const bool is_new = candidates.empty() || candidates.back() != choice;
    if (fits && is_new) candidates.push_back(choice);
  }
  return candidates;
}

BatchChoice first_batch(const BatchLimits& limits, std::uint32_t replicas) {
  const double total = round_up(least_total(limits, replicas) / replicas) * replicas;
  return capped_batch(limits, replicas, split_batch(limits, replicas, total));
}

BatchChoice capped_batch(const BatchLimits& limits, std::uint32_t replicas, BatchChoice choice) {
  // A pass of one sample a worker is the least there is, so passes may have to go first.
  const std::uint32_t most_passes = std::max(limits.largest / replicas, 1U);
  choice.accumulation = std::min(choice.accumulation, most_passes - 1);
  const std::uint32_t passes = replicas * (choice.accumulation + 1);
  choice.local_batch = std::clamp(choice.local_batch, 1U, std::max(limits.largest / passes, 1U));
  return choice;
}

}  // namespace muster

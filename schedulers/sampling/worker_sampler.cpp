#include "schedulers/sampling/worker_sampler.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster::sampling {
namespace {

/// Draws that may miss before the wanted workers are listed.
constexpr int kTries = 16;

}  // namespace

std::vector<WorkerIndex> WorkerSampler::distinct(std::size_t count, Rng& rng) {
  std::vector<WorkerIndex> drawn;
  if (workers_.empty()) return drawn;
  drawn.reserve(count);
  // A shuffle that stops after `count` draws, and starts over on the same list when more are wanted
  // than there are.
  while (drawn.size() < count) {
    const std::size_t turn = std::min(count - drawn.size(), workers_.size());
    for (std::size_t i = 0; i < turn; ++i) {
      std::swap(workers_[i], workers_[i + rng.below(workers_.size() - i)]);
      drawn.push_back(workers_[i]);
    }
  }
  return drawn;
}

std::vector<WorkerIndex> WorkerSampler::with_repeats(std::size_t count, Rng& rng) const {
  std::vector<WorkerIndex> drawn(count);
  for (WorkerIndex& worker : drawn) worker = workers_[rng.below(workers_.size())];
  return drawn;
}

std::vector<WorkerIndex> WorkerSampler::with_repeats(std::size_t count,
                                                     const std::function<bool(WorkerIndex)>& wanted,
                                                     Rng& rng) const {
  std::vector<WorkerIndex> drawn;
  if (workers_.empty()) return drawn;
  drawn.reserve(count);
  int misses = 0;
  // Fewer than 16 misses in a row: as long as one worker in a few is wanted, listing all would be
  // waste.
  while (drawn.size() < count && misses < kTries) {
    const WorkerIndex worker = workers_[rng.below(workers_.size())];
    if (wanted(worker)) {
      drawn.push_back(worker);
      misses = 0;
    } else {
      ++misses;
    }
  }
  if (drawn.size() == count) return drawn;
  std::vector<WorkerIndex> all;
  std::copy_if(workers_.begin(), workers_.end(), std::back_inserter(all), wanted);
  if (all.empty()) return drawn;
  while (drawn.size() < count) drawn.push_back(all[rng.below(all.size())]);
  return drawn;
}

}  // namespace muster::sampling

#include "workers/process/limits/cpu_shares.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster::process {

CpuShares::CpuShares(std::vector<std::uint32_t> cpus, std::uint64_t offset)
    : cpus_(std::move(cpus)) {
  if (cpus_.empty()) return;
  const auto first = static_cast<std::ptrdiff_t>(offset % cpus_.size());
  std::rotate(cpus_.begin(), cpus_.begin() + first, cpus_.end());
}

std::vector<std::uint32_t> CpuShares::take(const AttemptKey& key, double granted) {
  // A grant that is a hair above a whole number by rounding is that number.
  const double wanted = std::ceil(granted - kResourceEpsilon);
  if (wanted < 1 || wanted >= static_cast<double>(cpus_.size())) return {};
  std::vector<std::uint32_t> order = cpus_;
  // Stable: among those with as few attempts the order is that of the processors.
  std::stable_sort(order.begin(), order.end(), [this](std::uint32_t one, std::uint32_t other) {
    return users_[one] < users_[other];
  });
  order.resize(static_cast<std::size_t>(wanted));
  std::sort(order.begin(), order.end());
  keep(key, order);
  return order;
}

void CpuShares::keep(const AttemptKey& key, const std::vector<std::uint32_t>& cpus) {
  if (cpus.empty() || !taken_.emplace(key, cpus).second) return;
  for (const std::uint32_t cpu : cpus) ++users_[cpu];
}

void CpuShares::give_back(const AttemptKey& key) {
  const auto found = taken_.find(key);
  if (found == taken_.end()) return;
  for (const std::uint32_t cpu : found->second) --users_[cpu];
  taken_.erase(found);
}

std::vector<std::uint32_t> own_cpus() {
  std::vector<std::uint32_t> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails beyond 1,024 processors: then nothing is bound, and that is reported.
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace muster::process

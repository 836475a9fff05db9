#include "workers/process/limits/gpu_shares.hpp"

#include <algorithm>
#include <sstream>

#include "model/resources.hpp"

namespace muster::process {

// First fit by device number. Goes on until the amount is given: that the instance has enough is
// the master's care, so that a number beyond its devices can only come of a wrong grant.
std::string GpuShares::take(const AttemptKey& key, double amount) {
  std::string numbers;
  for (int device = 0; amount > kResourceEpsilon; ++device) {
    const double part = std::min(amount, 1.0);
    const auto found = used_.find(device);
    // A part never spans two devices.
    if (found != used_.end() && found->second + part > 1 + kResourceEpsilon) continue;
    hold(key, device, part);
    amount -= part;
    numbers += (numbers.empty() ? "" : ",") + std::to_string(device);
  }
  return numbers;
}

void GpuShares::keep(const AttemptKey& key, const std::string& numbers, double amount) {
  std::istringstream devices(numbers);
  int device = 0;
  for (char comma = ','; devices >> device; devices >> comma) {
    const double part = std::min(amount, 1.0);
    hold(key, device, part);
    amount -= part;
  }
}

void GpuShares::give_back(const AttemptKey& key) {
  const auto found = held_.find(key);
  if (found == held_.end()) return;
  for (const auto& [device, part] : found->second) {
    double& used = used_[device];
    used -= part;
    if (used < kResourceEpsilon) used_.erase(device);
  }
  held_.erase(found);
}

void GpuShares::hold(const AttemptKey& key, int device, double part) {
  used_[device] += part;
  held_[key][device] += part;
}

}  // namespace muster::process

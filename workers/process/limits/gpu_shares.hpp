#pragma once

#include <map>
#include <string>

#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {

/// Which of the instance's devices each attempt has: whole ones for itself, parts of one shared.
/// Devices are numbered from 0; the master grants no more than there are.
class GpuShares {
 public:
  /// Gives `amount` devices to the attempt; their numbers, separated by commas ("": no devices).
  std::string take(const AttemptKey& key, double amount);
  /// Notes what an attempt of an earlier process has.
  void keep(const AttemptKey& key, const std::string& numbers, double amount);
  void give_back(const AttemptKey& key);

 private:
  void hold(const AttemptKey& key, int device, double part);

  std::map<int, double> used_;
  std::map<AttemptKey, std::map<int, double>> held_;
};

}  // namespace muster::process

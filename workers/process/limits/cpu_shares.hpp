#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {

/// Which of a machine's processors each attempt is bound to, where no cgroup limits it: as many as
/// it is granted, rounded up, and those that the fewest attempts have.
class CpuShares {
 public:
  /// `offset` has executors that do not know of each other begin at different processors.
  CpuShares(std::vector<std::uint32_t> cpus, std::uint64_t offset);

  /// None: it may run on all, as it is granted as many or nothing is said of it.
  std::vector<std::uint32_t> take(const AttemptKey& key, double granted);
  /// Of an attempt that an earlier process has begun.
  void keep(const AttemptKey& key, const std::vector<std::uint32_t>& cpus);
  void give_back(const AttemptKey& key);
  /// Whether attempts are held to what they take: not where no processor is known.
  bool binds() const { return !cpus_.empty(); }

 private:
  std::vector<std::uint32_t> cpus_;  ///< rotated by the offset
  std::map<std::uint32_t, std::uint32_t> users_;
  std::map<AttemptKey, std::vector<std::uint32_t>> taken_;
};

/// The processors that this process may run on.
std::vector<std::uint32_t> own_cpus();

}  // namespace muster::process

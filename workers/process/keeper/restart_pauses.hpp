#pragma once

#include <algorithm>

#include "workers/process/keeper/keeper_pace.hpp"

namespace muster::process {

/// Pauses before the restarts of a program: it is restarted at once, then after longer and longer
/// ones.
class RestartPauses {
 public:
  explicit RestartPauses(const KeeperPace& pace)
      : first_(pace.first_pause), longest_(pace.longest_pause) {}

  Duration next() {
    const Duration pause = next_;
    next_ = std::clamp(2 * pause, first_, longest_);
    return pause;
  }
  /// The next restart is at once again.
  void forget() { next_ = {}; }

 private:
  Duration first_;
  Duration longest_;
  Duration next_{};
};

}  // namespace muster::process

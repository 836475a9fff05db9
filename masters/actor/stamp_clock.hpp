#pragma once

#include <algorithm>

#include "model/time.hpp"

namespace muster {

/// The time that a master's events are stamped with: the clock's, unless that was set back while
/// the master was down. Then stamps go on from the newest one and come back to the clock by a
/// hundredth of the time that passes, so that no duration is wrong by more than that.
class StampClock {
 public:
  StampClock() = default;
  /// `newest`: the newest stamp of before.
  StampClock(Instant started, Instant newest)
      : started_(started), set_back_(std::max(Duration::zero(), newest - started)) {}

  /// The clock's time when the master was started.
  Instant started() const { return started_; }
  Instant stamp(Instant clock) const {
    return clock + std::max(Duration::zero(), set_back_ - (clock - started_) / kSlew);
  }

 private:
  /// A clock that was set back is caught up with by one part in this many of the time that passes.
  static constexpr int kSlew = 100;

  Instant started_;
  Duration set_back_{};  ///< by which stamps were ahead of the clock then
};

}  // namespace muster

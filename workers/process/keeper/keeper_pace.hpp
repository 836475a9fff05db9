#pragma once

#include "model/service.hpp"
#include "model/time.hpp"

namespace muster::process {

/// The keeper's own times; those of a service's checks are in its ServiceSpec.
struct KeeperPace {
  /// Before the second restart; the first is at once, and each pause is twice the one before.
  Duration first_pause = kFirstRestartPause;
  Duration longest_pause = kLongestRestartPause;
  /// Ends are forgotten by a program that has been ready for this long in a row.
  Duration forget_after = kForgetSetbacks;
  /// For the processes that an ended program left, which are killed, to be gone before its restart.
  Duration gone_within{std::chrono::seconds{2}};
  /// From a program's start to its first readiness check. Until one passes, each pause is twice the
  /// one before, up to the check's own.
  Duration first_check{std::chrono::milliseconds{50}};
  Duration say_again{std::chrono::seconds{60}};  ///< of a state that does not change
  Duration reconnect{std::chrono::seconds{1}};   ///< to the shim, which has gone or refuses
};

}  // namespace muster::process

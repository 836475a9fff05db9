#pragma once

#include <caf/all.hpp>
#include <functional>
#include <utility>

#include "actors/messages/messages.hpp"
#include "model/time.hpp"

namespace muster {

/// Where the cluster's time line begins on the actor system's clock. Part of what the composition
/// root hands in: virtual time and real time differ in nothing else.
struct ClockOrigin {
  caf::actor_clock::time_point start{};

  Instant instant(caf::actor_clock::time_point t) const {
    return Instant{std::chrono::duration_cast<Duration>(t - start)};
  }
};

/// The time as an actor sees it, and its way to be woken later. Both go through the actor clock.
template <class Handle, class Self>
class ActorTimer {
 public:
  ActorTimer(Self* self, ClockOrigin origin) : self_(self), origin_(origin) {}

  Instant now() const { return origin_.instant(self_->clock().now()); }

  /// Runs `step` in the actor after that time.
  void after(Duration wait, std::function<void()> step) const {
    self_->delayed_send(Handle{self_}, wait, Wakeup{std::move(step)});
  }

  /// Runs `step` in the actor at the given time, at once when that is past.
  void at(Instant when, std::function<void()> step) const {
    after(std::max(Duration::zero(), when - now()), std::move(step));
  }

 private:
  Self* self_;
  ClockOrigin origin_;
};

}  // namespace muster

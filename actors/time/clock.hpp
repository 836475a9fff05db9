#pragma once

#include <caf/all.hpp>
#include <functional>
#include <optional>
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

/// A step of an actor that is due once, at the earliest of the times it was asked for. Asked for no
/// more, it does not come.
template <class Handle, class Self>
class Alarm {
 public:
  Alarm(const ActorTimer<Handle, Self>& timer, std::function<void()> step)
      : timer_(timer), step_(std::move(step)) {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  bool armed() const { return due_.has_value(); }
  // A message that is on its way cannot be called back: one whose time is not due_ any more does
  // nothing, which covers earlier dates, disarm() and repeated ones alike.
  void at(Instant when) {
    if (due_ && *due_ <= when) return;
    due_ = when;
    timer_.at(when, [this, when] {
      if (due_ != when) return;  // it was wanted earlier, and has been
      due_.reset();
      step_();
    });
  }
  void after(Duration wait) { at(timer_.now() + wait); }
  void disarm() { due_.reset(); }

 private:
  const ActorTimer<Handle, Self>& timer_;
  std::function<void()> step_;
  std::optional<Instant> due_;
};

}  // namespace muster

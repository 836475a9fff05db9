#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "model/time.hpp"

namespace muster {

/// A step of an actor that is due once, at the earliest of the times it was asked for. Asked for no
/// more, it does not come. The timer, which has to outlive it, has now() and at(Instant, step), as
/// an ActorTimer has.
template <class Timer>
class Alarm {
 public:
  Alarm(Timer& timer, std::function<void()> step) : timer_(timer), step_(std::move(step)) {}
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
  Timer& timer_;
  std::function<void()> step_;
  std::optional<Instant> due_;
};

}  // namespace muster

#include "actors/link/frame_outbox.hpp"

#include <utility>

// wake_() is called outside the lock: it may come to take() on the same thread.

namespace muster {

FrameOutbox::FrameOutbox(Bounds bounds, std::function<void()> wake)
    : bounds_(bounds), wake_(std::move(wake)) {}

bool FrameOutbox::must_wake() {
  if (awake_ || closed_) return false;
  // Frames without credits are nothing to take: grant() wakes for them.
  if (steering_.empty() && (waiting_.empty() || credits_ == 0)) return false;
  awake_ = true;
  return true;
}

FrameOutbox::Put FrameOutbox::put_locked(FrameBytes frame) {
  // The bound ends the link rather than blocking: the caller is an actor, which must not wait.
  if (waiting_.size() >= bounds_.frames || waiting_bytes_ + frame.size() > bounds_.bytes) {
    return Put::overflow;
  }
  waiting_bytes_ += frame.size();
  waiting_.push_back(std::move(frame));
  return Put::queued;
}

FrameOutbox::Put FrameOutbox::open(FrameBytes first) {
  Put put = Put::queued;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Put::dropped;
    if (open_) {
      put = put_locked(std::move(first));
    } else {
      open_ = true;
      steering_.push_front(std::move(first));
    }
    wake = must_wake();
  }
  if (wake) wake_();
  return put;
}

FrameOutbox::Put FrameOutbox::put(FrameBytes frame) {
  Put put = Put::queued;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || !open_) return Put::dropped;
    put = put_locked(std::move(frame));
    wake = must_wake();
  }
  if (wake) wake_();
  return put;
}

void FrameOutbox::put_steering(FrameBytes frame) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    steering_.push_back(std::move(frame));
    wake = must_wake();
  }
  if (wake) wake_();
}

bool FrameOutbox::grant(std::uint32_t credits) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    // Written so that the sum cannot overflow.
    if (credits > kMaxCredits - credits_) return false;
    credits_ += credits;
    wake = must_wake();
  }
  if (wake) wake_();
  return true;
}

FrameBytes FrameOutbox::take(std::size_t about_bytes) {
  const std::lock_guard lock(mutex_);
  FrameBytes bytes;
  // Steering frames go first, or a long queue would hold heartbeats back until the link counts as
  // dead.
  while (bytes.size() < about_bytes && !steering_.empty()) {
    bytes += steering_.front();
    steering_.pop_front();
  }
  while (bytes.size() < about_bytes && !waiting_.empty() && credits_ > 0) {
    bytes += waiting_.front();
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
    --credits_;
  }
  // Only here may the next put() wake again: until then somebody is taking.
  if (bytes.empty()) awake_ = false;
  return bytes;
}

void FrameOutbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  steering_.clear();
  waiting_.clear();
  waiting_bytes_ = 0;
}

bool FrameOutbox::is_open() const {
  const std::lock_guard lock(mutex_);
  return open_ && !closed_;
}

}  // namespace muster

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace muster {

/// The frames and bytes that one end of a connection lets the other one send. A frame that takes a
/// credit uses it up; credits come back when the owner has dealt with everything before a fence. So
/// no more frames than there are credits ever wait for the owner, and hardly more bytes than it may
/// leave unread: a frame that is begun is read to its end.
class ReadCredits {
 public:
  /// The frames that were handed on before a fence.
  struct Fenced {
    std::uint32_t frames = 0;  ///< of them, those that took a credit
    std::size_t bytes = 0;
  };

  ReadCredits(std::uint32_t credits, std::size_t max_unread_bytes)
      : credits_(credits), max_unread_bytes_(max_unread_bytes), allowance_(credits) {}

  /// Uses up a credit. False: the other end had no credit left.
  bool take() {
    if (allowance_ == 0) return false;
    --allowance_;
    return true;
  }
  /// A frame was handed on to the owner.
  void hand_on(std::size_t bytes, bool credited) {
    if (credited) ++since_fence_.frames;
    since_fence_.bytes += bytes;
  }
  /// Before each frame: whether reading has to stop until the owner has caught up, so that TCP
  /// holds the other end back. It goes on when a fence is passed.
  bool pause_if_full() {
    paused_ = since_fence_.bytes + fenced_bytes_ >= max_unread_bytes_;
    return paused_;
  }
  bool paused() const { return paused_; }
  /// Whether a quarter of the credits or of the bytes is used up, so that few fences are needed and
  /// the other end never runs dry.
  bool wants_fence() const {
    return since_fence_.frames >= std::max(1u, credits_ / 4) ||
           since_fence_.bytes >= max_unread_bytes_ / 4;
  }
  /// Puts a fence behind all that was handed on. Nothing while another fence is open.
  std::optional<Fenced> fence() {
    if (std::exchange(fence_open_, true)) return std::nullopt;
    fenced_bytes_ = since_fence_.bytes;
    return std::exchange(since_fence_, {});
  }
  /// The owner has dealt with all before the fence: the other end gets its credits back.
  void pass(const Fenced& fenced) {
    fence_open_ = false;
    fenced_bytes_ -= fenced.bytes;
    allowance_ += fenced.frames;
  }

 private:
  std::uint32_t credits_;
  std::size_t max_unread_bytes_;
  std::uint32_t allowance_;  ///< frames that the other end may still send
  Fenced since_fence_;
  std::size_t fenced_bytes_ = 0;
  bool fence_open_ = false;
  bool paused_ = false;
};

}  // namespace muster

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include "actors/link/frame.hpp"

namespace muster {

/// Frames on their way out of one connection. Frames that take credits wait for them, frames that
/// steer the link do not. Every call may come from any thread.
class FrameOutbox {
 public:
  struct Bounds {
    std::size_t frames = 10'000;
    std::size_t bytes = std::size_t{64} << 20;
  };
  enum class Put : std::uint8_t {
    queued,
    dropped,  ///< not open yet, or closed
    overflow  ///< the other end takes too little; the frame is dropped
  };

  /// `wake` is called when there is something to take() after there was nothing; from any thread.
  FrameOutbox(Bounds bounds, std::function<void()> wake);

  /// The first frame needs no credit and opens the box; a later one is put() like any other.
  Put open(FrameBytes first);
  Put put(FrameBytes frame);
  /// For frames that take no credit; does not need the box to be open.
  void put_steering(FrameBytes frame);
  /// The other end takes that number of further frames. False when it says that it takes more than
  /// anybody could.
  bool grant(std::uint32_t credits);
  /// Everything that may go now, up to about that number of bytes; empty: nothing, until `wake`.
  FrameBytes take(std::size_t about_bytes);
  /// Drops queued frames, and later ones too.
  void close();
  bool is_open() const;

  static constexpr std::uint32_t kMaxCredits = 1u << 20;

 private:
  Put put_locked(FrameBytes frame);
  bool must_wake();

  const Bounds bounds_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::deque<FrameBytes> steering_;
  std::deque<FrameBytes> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::uint32_t credits_ = 0;
  bool open_ = false;
  bool closed_ = false;
  bool awake_ = false;
};

}  // namespace muster

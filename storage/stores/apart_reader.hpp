#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace muster {

/// A thread that waits for the disk in place of those who must not. Its members may be called from
/// any thread.
class ApartReader {
 public:
  /// `most`: reads that wait; from 1.
  explicit ApartReader(std::size_t most) : most_(most), thread_([this] { run(); }) {}
  /// Ends what is being read and drops what waits to be.
  ~ApartReader();
  ApartReader(const ApartReader&) = delete;
  ApartReader& operator=(const ApartReader&) = delete;

  /// Calls `read` once, later. False: it is not called, for too many wait already.
  bool read(std::function<void()> read);

 private:
  void run();

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool ends_ = false;
  std::thread thread_;  ///< begins last
};

}  // namespace muster

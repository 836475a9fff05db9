#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace muster::api {

/// A thread for steps that wait for a disk or for another process, one after the other. The callers
/// of post() bound the number of steps. Every function may be called from any thread but its own.
class Desk {
 public:
  using Step = std::function<void()>;

  Desk();
  ~Desk();
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  /// Has it done; after stop() it is dropped. May be called from its own thread, too.
  void post(Step step);
  /// Ends the step that is under way and drops the others.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<Step> steps_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace muster::api

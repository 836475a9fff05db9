#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace muster::process {

/// A step at once and again after each period, on a thread of its own: for a file system of a
/// network, which may let a step hang. The end of this waits for no step, so a step has to own all
/// that it uses.
class SlowSteps {
 public:
  SlowSteps(std::function<void()> step, std::chrono::milliseconds period);
  ~SlowSteps();
  SlowSteps(const SlowSteps&) = delete;
  SlowSteps& operator=(const SlowSteps&) = delete;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;  ///< guarded
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace muster::process

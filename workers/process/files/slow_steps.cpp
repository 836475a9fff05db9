#include "workers/process/files/slow_steps.hpp"

#include <utility>

#include "workers/process/quiet_thread.hpp"

namespace muster::process {

SlowSteps::SlowSteps(std::function<void()> step, std::chrono::milliseconds period) {
  quiet_thread([state = state_, step = std::move(step), period] {
    std::unique_lock lock(state->mutex);
    while (!state->over) {
      lock.unlock();
      step();
      lock.lock();
      state->changed.wait_for(lock, period, [&] { return state->over; });
    }
  }).detach();
}

SlowSteps::~SlowSteps() {
  const std::lock_guard lock(state_->mutex);
  state_->over = true;
  state_->changed.notify_all();
}

}  // namespace muster::process

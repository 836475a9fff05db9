#include "serve/api/desk.hpp"

#include <utility>

namespace muster::api {

Desk::Desk() : thread_([this] { run(); }) {}

Desk::~Desk() {
  stop();
}

void Desk::post(Step step) {
  {
    const std::lock_guard lock(mutex_);
    if (stops_) return;
    steps_.push_back(std::move(step));
  }
  news_.notify_one();
}

void Desk::stop() {
  // Released after the lock: objects that a step holds may post another one when they go.
  std::deque<Step> dropped;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    dropped.swap(steps_);
  }
  news_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Desk::run() {
  while (true) {
    Step step;
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [&] { return stops_ || !steps_.empty(); });
      if (stops_) return;
      step = std::move(steps_.front());
      steps_.pop_front();
    }
    step();
  }
}

}  // namespace muster::api

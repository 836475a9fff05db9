#include "tools/cli/interrupt_watch.hpp"

#include <cerrno>
#include <chrono>
#include <ctime>

// SIGINT as something that is asked for and not delivered: it is blocked and stays pending, so that
// a command ends at a place of its choice and says what goes on without it.

namespace muster::cli {

InterruptWatch::InterruptWatch() {
  sigemptyset(&watched_);
  sigaddset(&watched_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

InterruptWatch::~InterruptWatch() {
  // The key press has been heeded; it must not end the command now.
  const timespec no_time{};
  sigtimedwait(&watched_, nullptr, &no_time);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool InterruptWatch::interrupted() const {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGINT) == 1;
}

bool InterruptWatch::pause(Duration length) const {
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + length;
  // A blocked signal does not end nanosleep(): it is looked for in between.
  constexpr Duration kLook = std::chrono::milliseconds{50};
  while (!interrupted()) {
    const Duration left = end - steady_clock::now();
    if (left <= Duration{}) return true;
    const Duration step = std::min(left, kLook);
    const timespec time{step.count() / 1'000'000'000, step.count() % 1'000'000'000};
    nanosleep(&time, nullptr);
  }
  return false;
}

}  // namespace muster::cli

#include "serve/solver/child_end.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

namespace muster {
namespace {

using std::chrono::steady_clock;

/// Between two looks at a child that has no descriptor.
constexpr std::chrono::milliseconds kLook{5};
/// poll() takes no more milliseconds at once, nor does anybody need them.
constexpr double kMostPoll_ms = 1e6;

double left_ms(steady_clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - steady_clock::now()).count();
}

/// Takes the ended child's status; nothing while it lives. A child whose status is gone, as where
/// SIGCHLD is ignored, has not ended well as far as anybody knows.
std::optional<ChildEnd> reap(pid_t child, int options) {
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = waitpid(child, &status, options);
  } while (reaped < 0 && errno == EINTR);
  if (reaped == 0) return std::nullopt;
  const bool well = reaped == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return well ? ChildEnd::well : ChildEnd::badly;
}

/// Whether the child ended in time.
bool ends_by(steady_clock::time_point end, int watched) {
  while (true) {
    const double most_ms = std::clamp(left_ms(end), 0.0, kMostPoll_ms);
    pollfd ended{watched, POLLIN, 0};
    const int ready = poll(&ended, 1, static_cast<int>(std::ceil(most_ms)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (left_ms(end) <= 0) return false;
  }
}

}  // namespace

int watch_child(pid_t child) {
  return static_cast<int>(syscall(SYS_pidfd_open, child, 0));
}

ChildEnd await_end(pid_t child, int watched, double seconds) {
  const auto end = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                             std::chrono::duration<double>(std::max(0.0, seconds)));
  if (watched >= 0) {
    if (ends_by(end, watched)) return reap(child, 0).value_or(ChildEnd::badly);
    // By the descriptor: a number whose process is gone may be another's.
    syscall(SYS_pidfd_send_signal, watched, SIGKILL, nullptr, 0);
  } else {
    while (left_ms(end) > 0) {
      if (const auto ended = reap(child, WNOHANG)) return *ended;
      std::this_thread::sleep_for(kLook);
    }
    if (const auto ended = reap(child, WNOHANG)) return *ended;
    kill(child, SIGKILL);
  }
  reap(child, 0);
  return ChildEnd::outlived;
}

}  // namespace muster

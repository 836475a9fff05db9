#pragma once

#include <unistd.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <string>

#include "tools/cli/named_task.hpp"

namespace muster::cli {

/// One line on a terminal's standard error that is drawn over again, for work that takes longer
/// than a second. Elsewhere nothing is written.
class SlowProgress {
 public:
  SlowProgress() : shown_(is_able_terminal(STDERR_FILENO)) {}
  ~SlowProgress() { clear(); }
  SlowProgress(const SlowProgress&) = delete;
  SlowProgress& operator=(const SlowProgress&) = delete;

  /// The line is made only when it is drawn. It has to be printable.
  void draw(const std::function<std::string()>& line) {
    using Steady = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kBetween{200};
    if (!shown_ || Steady::now() < next_) return;
    std::cerr << "\r\x1b[K" << line() << std::flush;
    next_ = Steady::now() + kBetween;
    drawn_ = true;
  }
  void clear() {
    if (drawn_) std::cerr << "\r\x1b[K" << std::flush;
    drawn_ = false;
  }

 private:
  static constexpr std::chrono::seconds kPatience{1};

  bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kPatience;
};

}  // namespace muster::cli

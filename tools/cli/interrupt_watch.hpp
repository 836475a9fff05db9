#pragma once

#include <csignal>

#include "model/time.hpp"

namespace muster::cli {

/// While it lives, Ctrl-C ends the waiting of the command and not the command.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  /// Ctrl-C was pressed.
  bool interrupted() const;
  /// Waits for that time; false at once when Ctrl-C was or is pressed.
  bool pause(Duration length) const;

 private:
  sigset_t watched_{};
  sigset_t before_{};
};

}  // namespace muster::cli

#pragma once

#include <functional>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/time.hpp"

namespace muster::report {

/// Whether somebody sees what is written to the standard error, on a terminal that draws over lines
/// (not TERM=dumb).
bool stderr_is_terminal();
/// Number of characters in a line of the terminal at the standard output; nothing without a
/// terminal.
std::optional<std::size_t> terminal_width();

/// One line that shows how far several concurrent runs have got. Threads may report at any time;
/// the line is drawn at most ten times a second.
class Progress {
 public:
  struct Setup {
    std::ostream* out = nullptr;  ///< null: draws nothing
    std::size_t runs = 1;
    std::function<Duration()> elapsed;  ///< since the start; called with the line locked
    const char* noun = "runs";          ///< their name in the line
  };
  explicit Progress(Setup setup);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `over` of the run's `all` jobs are over.
  void update(std::size_t run, std::size_t over, std::size_t all);
  /// Takes the line off the screen; later updates draw nothing.
  void clear();

 private:
  std::string line(Duration elapsed) const;

  Setup setup_;
  std::mutex mutex_;
  std::vector<double> done_;  ///< share of each run
  std::optional<Duration> drawn_at_;
  bool cleared_ = false;
};

}  // namespace muster::report

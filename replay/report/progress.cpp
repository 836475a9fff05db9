#include "replay/report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <ostream>
#include <string_view>
#include <utility>

#include "model/check.hpp"

// One line on a terminal that says how far several runs are. Runs report from their own threads;
// the line is drawn at most ten times a second, whatever they report.

namespace muster::report {
namespace {

constexpr Duration kBetweenDraws = std::chrono::milliseconds{100};
constexpr std::size_t kBarWidth = 30;
constexpr const char* kEraseLine = "\r\x1b[K";

std::string clock_of(double seconds) {
  const std::int64_t whole = std::llround(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

bool stderr_is_terminal() {
  const char* name = std::getenv("TERM");
  const std::string_view terminal = name == nullptr ? "" : name;
  // Where lines cannot be drawn over, what erases them would stand there instead.
  return isatty(STDERR_FILENO) == 1 && !terminal.empty() && terminal != "dumb";
}

std::optional<std::size_t> terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

Progress::Progress(Setup setup) : setup_(std::move(setup)), done_(setup_.runs, 0.0) {}

Progress::~Progress() {
  clear();
}

void Progress::update(std::size_t run, std::size_t over, std::size_t all) {
  MUSTER_CHECK(run < done_.size(), "progress of a run that there is not");
  const std::lock_guard lock(mutex_);
  done_[run] = all == 0 ? 1 : std::min(1.0, static_cast<double>(over) / static_cast<double>(all));
  // Nothing is drawn after clear(): results may stand on the screen by then.
  if (setup_.out == nullptr || cleared_) return;
  const Duration elapsed = setup_.elapsed();
  if (drawn_at_ && elapsed - *drawn_at_ < kBetweenDraws) return;
  drawn_at_ = elapsed;
  *setup_.out << kEraseLine << line(elapsed) << std::flush;
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (setup_.out != nullptr && drawn_at_ && !cleared_) *setup_.out << kEraseLine << std::flush;
  cleared_ = true;
}

std::string Progress::line(Duration elapsed) const {
  const double share = done_.empty() ? 1
                                     : std::accumulate(done_.begin(), done_.end(), 0.0) /
                                           static_cast<double>(done_.size());
  const auto filled = static_cast<std::size_t>(share * kBarWidth);
  const auto over = std::count(done_.begin(), done_.end(), 1.0);
  const double spent_s = to_seconds(elapsed);
  std::string text = fmt::format("[{}{}] {:3.0f}%  {} of {} {} over  {}", std::string(filled, '#'),
                                 std::string(kBarWidth - filled, '.'), share * 100, over,
                                 done_.size(), setup_.noun, clock_of(spent_s));
  // An estimate from the first moments is off by any factor.
  if (share > 0.02 && share < 1) {
    text += fmt::format(", {} to go", clock_of(spent_s / share * (1 - share)));
  }
  return text;
}

}  // namespace muster::report

#include "workers/process/shim/shim_progress.hpp"

#include "workers/process/shim/shim_sockets.hpp"

namespace muster::process {

std::string ShimProgress::hear(std::string_view line, Duration now) {
  if (line.starts_with("step")) {
    const auto step = step_from(line);
    if (!step) {
      return "error: say: step LOCAL_BATCH ACCUMULATION STEP_S SYNC_S GRAD_SQR GRAD_VAR\n";
    }
    step_ = step;
    return "ok\n";
  }
  const auto units = progress_from(line);
  if (!units) return "error: say: progress N\n";
  // Points that go back would make negative rates.
  if (*units < units_) return "error: progress does not go back\n";
  units_ = *units;
  untold_ = {now, units_, step_};
  return "ok\n";
}

std::optional<std::string> ShimProgress::take_due(Duration now) {
  const auto due = next_due();
  if (!due || now < *due) return std::nullopt;
  // Bounds what is sent: one point for each interval, always the newest.
  meter_.add(*untold_);
  std::string line = progress_line(*untold_);
  untold_.reset();
  return line;
}

std::optional<Duration> ShimProgress::next_due() const {
  if (!untold_) return std::nullopt;
  const auto& points = meter_.points();
  return points.empty() ? untold_->at : points.back().at + kInterval;
}

std::string ShimProgress::told() const {
  std::string lines;
  for (const ProgressPoint& point : meter_.points()) lines += progress_line(point);
  return lines;
}

}  // namespace muster::process

#include "workers/process/shim/shim_progress.hpp"

#include <algorithm>
#include <utility>

#include "workers/process/shim/shim_sockets.hpp"

namespace muster::process {

ShimProgress::ShimProgress(std::size_t max_metrics, const std::optional<ServiceSpec>& service)
    : max_metrics_(max_metrics) {
  if (service) replica_.emplace(*service);
}

std::string ShimProgress::hear(std::string_view line, Duration now) {
  if (replica_) {
    if (auto answer = replica_->hear(line, now)) return *std::move(answer);
  }
  if (line.starts_with("step")) {
    const auto step = step_from(line);
    if (!step) {
      return "error: say: step LOCAL_BATCH ACCUMULATION STEP_S SYNC_S GRAD_SQR GRAD_VAR\n";
    }
    step_ = step;
    return "ok\n";
  }
  if (line.starts_with("metric")) return hear_metric(line, now);
  const auto units = progress_from(line);
  if (!units && line.starts_with("progress")) {
    return "error: say: progress N, a number from 0 to 1e15\n";
  }
  if (!units) {
    return "error: say: progress N, metric NAME VALUE, or step and six numbers "
           "(docs/tasks.md)\n";
  }
  // Points that go back would make negative rates.
  if (*units < units_) return "error: progress does not go back\n";
  units_ = *units;
  untold_ = {now, units_, step_};
  return "ok\n";
}

std::string ShimProgress::hear_metric(std::string_view line, Duration now) {
  const SaidMetric said = metric_from(line);
  if (!said.problem.empty()) return "error: " + said.problem + "\n";
  if (!set_metric(metrics_, said.name, said.value, max_metrics_)) {
    return "error: this worker keeps at most " + std::to_string(max_metrics_) +
           " metrics of a task, and '" + std::string(said.name) + "' is one more\n";
  }
  if (!untold_metrics_) untold_metrics_ = now;
  return "ok\n";
}

std::optional<std::string> ShimProgress::take_due(Duration now) {
  const auto is_due = [now](std::optional<Duration> due) { return due && *due <= now; };
  std::string lines;
  // Bounds what is sent: one line of each kind for each interval, always the newest.
  if (is_due(progress_due())) {
    meter_.add(*untold_);
    lines += progress_line(*untold_);
    untold_.reset();
  }
  if (is_due(metrics_due())) {
    lines += metrics_line(metrics_);
    metrics_told_ = now;
    untold_metrics_.reset();
  }
  if (replica_ && is_due(replica_->due())) lines += replica_->tell(now);
  return lines.empty() ? std::nullopt : std::optional(std::move(lines));
}

std::optional<Duration> ShimProgress::progress_due() const {
  if (!untold_) return std::nullopt;
  const auto& points = meter_.points();
  return points.empty() ? untold_->at : points.back().at + kInterval;
}

std::optional<Duration> ShimProgress::metrics_due() const {
  if (!untold_metrics_) return std::nullopt;
  return metrics_told_ ? *metrics_told_ + kInterval : *untold_metrics_;
}

std::optional<Duration> ShimProgress::next_due() const {
  std::optional<Duration> next;
  for (const auto& due :
       {progress_due(), metrics_due(), replica_ ? replica_->due() : std::nullopt}) {
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

std::string ShimProgress::told() const {
  std::string lines;
  for (const ProgressPoint& point : meter_.points()) lines += progress_line(point);
  if (metrics_told_) lines += metrics_line(metrics_);
  if (replica_) lines += replica_->told();
  return lines;
}

}  // namespace muster::process

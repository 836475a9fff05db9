#include "masters/actor/metrics_intake.hpp"

#include <algorithm>
#include <utility>

#include "masters/actor/worker_news.hpp"

namespace muster {

MetricsIntake::MetricsIntake(Master& master, PartHost& host, std::function<void()> recorded)
    : master_(master), host_(host), recorded_(std::move(recorded)), due_(host_, [this] {
        record();
        host_.commit();
      }) {}

void MetricsIntake::hear(const MetricsReport& report) {
  for (const AttemptMetrics& each : report.attempts) {
    const TaskRow* task = master_.state().find(each.said.task);
    if (task == nullptr || task->attempt != each.attempt) continue;
    if (!is_there(master_.state(), each.said.task, report.instance)) continue;
    // One a task: what waits is bounded by what runs.
    waiting_.insert_or_assign(each.said.task, each);
  }
  if (waiting_.empty()) return;
  // No longer than that, whatever becomes of the clock.
  const Duration interval = master_.settings().metrics.interval;
  const Duration left = last_ ? interval - (host_.now() - *last_) : Duration::zero();
  due_.after(std::clamp(left, Duration::zero(), interval));
}

void MetricsIntake::settle(TaskId task) {
  if (waiting_.contains(task)) record();
}

void MetricsIntake::record() {
  last_ = host_.now();
  Measured said;
  for (auto& [task, each] : std::exchange(waiting_, {})) {
    const TaskRow* row = master_.state().find(task);
    if (row != nullptr && row->attempt == each.attempt)
      said.metrics.push_back(std::move(each.said));
  }
  if (master_.note_measured(std::move(said), host_.stamp())) recorded_();
}

}  // namespace muster

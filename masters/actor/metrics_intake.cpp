#include "masters/actor/metrics_intake.hpp"

#include <algorithm>
#include <utility>

#include "masters/actor/worker_news.hpp"

namespace muster {

MetricsIntake::MetricsIntake(Master& master, PartHost& host, Host hooks)
    : master_(master),
      host_(host),
      hooks_(std::move(hooks)),
      due_(host_, [this] { record_due(); }) {}

void MetricsIntake::hear(const MetricsReport& report) {
  bool changed = false;
  for (const AttemptMetrics& each : report.attempts) {
    const TaskRow* task = master_.state().find(each.said.task);
    if (task == nullptr || task->attempt != each.attempt) continue;
    if (!is_there(master_.state(), each.said.task, report.instance)) continue;
    if (each.replica) {
      // At once: clients are sent to what is ready.
      changed |=
          master_.news().replica({each.said.task, each.attempt, *each.replica}, host_.stamp());
    }
    if (!each.said.values.empty()) waiting_.insert_or_assign(each.said.task, each);
  }
  if (changed) {
    hooks_.recorded();
    host_.commit();
  }
  if (waiting_.empty()) return;
  // No longer than that, whatever becomes of the clock.
  const Duration interval = master_.settings().metrics.interval;
  const Duration left = last_ ? interval - (host_.now() - *last_) : Duration::zero();
  due_.after(std::clamp(left, Duration::zero(), interval));
}

void MetricsIntake::settle(TaskId task) {
  auto said = waiting_.extract(task);
  if (said.empty()) return;
  std::map<TaskId, AttemptMetrics> newest;
  newest.insert(std::move(said));
  record(std::move(newest));
}

/// Values that are recorded while the journal takes nothing would wait in memory behind it, more of
/// them with each interval. Here the newest ones wait alone.
void MetricsIntake::record_due() {
  if (waiting_.empty()) return;
  if (!hooks_.takes_more()) return due_.after(master_.settings().metrics.interval);
  last_ = host_.now();
  record(std::exchange(waiting_, {}));
  host_.commit();
}

void MetricsIntake::record(std::map<TaskId, AttemptMetrics> newest) {
  Measured said;
  for (auto& [task, each] : newest) {
    const TaskRow* row = master_.state().find(task);
    const bool is_newest = row != nullptr && row->attempt == each.attempt;
    if (is_newest) said.metrics.push_back(std::move(each.said));
  }
  if (master_.note_measured(std::move(said), host_.stamp())) hooks_.recorded();
}

}  // namespace muster

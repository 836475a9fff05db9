#include "workers/process/metrics_outbox.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace muster::process {

void MetricsOutbox::note(const AttemptKey& attempt, Metrics values) {
  Held& held = held_[attempt];
  // A shim that is connected to again says again what it has said.
  if (held.values == values) return;
  held.values = std::move(values);
  held.told = held.over = false;
  tell_later();
}

void MetricsOutbox::note(const AttemptKey& attempt, ReplicaState replica) {
  Held& held = held_[attempt];
  if (held.replica == replica) return;
  held.replica = std::move(replica);
  if (host_.reported) host_.reported({{{attempt.task, {}}, attempt.attempt, held.replica}});
}

void MetricsOutbox::note(const AttemptKey& attempt, const FilledBytes& filled) {
  Held& held = held_[attempt];
  if (std::exchange(held.filled, filled) == filled || !host_.filled) return;
  host_.filled({{attempt.task, attempt.attempt, filled.out, filled.err}});
}

void MetricsOutbox::end(const AttemptKey& attempt, Metrics values) {
  if (values.empty() || !are_metrics(values)) {
    held_.erase(attempt);
    return;
  }
  Held& held = held_[attempt];
  const bool told = held.told && held.values == values;
  held = {std::move(values), true, true};
  if (!told && host_.reported) {
    host_.reported({{{attempt.task, held.values}, attempt.attempt, {}}});
  }
}

void MetricsOutbox::repeat() {
  std::vector<AttemptMetrics> last;
  std::vector<FilledLog> logs;
  for (auto& [attempt, held] : held_) {
    if (held.filled != FilledBytes{}) {
      logs.push_back({attempt.task, attempt.attempt, held.filled.out, held.filled.err});
    }
    if (held.over) {
      last.push_back({{attempt.task, held.values}, attempt.attempt, {}});
      continue;
    }
    held.told = false;
    // Before the next hello's answer: clients may not be sent to what is not there.
    if (held.replica) last.push_back({{attempt.task, {}}, attempt.attempt, held.replica});
  }
  if (!last.empty() && host_.reported) host_.reported(std::move(last));
  if (!logs.empty() && host_.filled) host_.filled(std::move(logs));
  tell_later();
}

bool MetricsOutbox::keeps(const AttemptKey& attempt) const {
  const auto held = held_.find(attempt);
  return held != held_.end() && held->second.over;
}

void MetricsOutbox::settle(const AttemptKey& attempt) {
  if (keeps(attempt)) held_.erase(attempt);
}

void MetricsOutbox::tell_later() {
  if (held_.empty() || std::exchange(waits_, true)) return;
  const Instant now = host_.now();
  const Duration left = told_at_ ? interval_ - (now - *told_at_) : Duration::zero();
  // No longer than that, whatever becomes of the clock.
  host_.at(now + std::clamp(left, Duration::zero(), interval_),
           [this, alive = std::weak_ptr<const bool>(alive_)] {
             if (!alive.expired()) tell();
           });
}

void MetricsOutbox::tell() {
  waits_ = false;
  told_at_ = host_.now();
  std::vector<AttemptMetrics> said;
  for (auto& [attempt, held] : held_) {
    if (std::exchange(held.told, true)) continue;
    if (!held.values.empty()) {
      said.push_back({{attempt.task, held.values}, attempt.attempt, {}});
    }
  }
  if (!said.empty() && host_.reported) host_.reported(std::move(said));
}

}  // namespace muster::process

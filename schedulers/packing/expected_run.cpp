#include "schedulers/packing/expected_run.hpp"

#include <algorithm>
#include <optional>

namespace muster {
namespace {

/// Doubling has to come to an end: an estimate of nothing counts as this, and no time is longer
/// than the other.
constexpr Duration kShortest = std::chrono::seconds{1};
constexpr Duration kLongest = std::chrono::hours{24 * 365 * 100};

}  // namespace

Duration expected_run(const Job& job, const TaskSpec& task, const RunTimeRules& rules) {
  std::optional<Duration> said;
  if (rules.source == RunTimeSource::predicted) said = job.prediction.runtime;
  if (rules.source == RunTimeSource::hinted) {
    said = task.runtime_hint ? task.runtime_hint : job.runtime_hint;
  }
  return std::clamp(said.value_or(rules.otherwise), kShortest, kLongest);
}

Duration expected_left(Duration expected, Duration ran, const RunTimeRules& rules) {
  if (!rules.readjust) return std::max(Duration{}, expected - ran);
  // A function of the two times alone, so that nothing has to be remembered of a task.
  while (expected <= ran && expected < kLongest) expected *= 2;
  return std::max(Duration{}, expected - ran);
}

Duration ran_so_far(const TaskRow& task, Instant now) {
  if (task.phase != TaskPhase::running && task.phase != TaskPhase::stopping) return task.ran;
  return task.ran + std::max(Duration{}, now - task.started_at);
}

}  // namespace muster

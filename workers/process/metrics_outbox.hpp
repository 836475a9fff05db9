#pragma once

#include <map>
#include <memory>
#include <optional>

#include "model/task_metrics.hpp"
#include "workers/executor.hpp"
#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {

/// Holds what the attempts of an instance report of themselves, and tells its worker of what is
/// new: of all of them together, at most once in an interval.
class MetricsOutbox {
 public:
  /// The host outlives it.
  MetricsOutbox(const ExecutorHost& host, Duration interval) : host_(host), interval_(interval) {}

  /// All that the attempt has reported so far.
  void note(const AttemptKey& attempt, Metrics values);
  /// The attempt is over: what was not told of it is told at once, and it is forgotten. What no
  /// task can report comes from a file that the task had its hands on, and is dropped.
  void end(const AttemptKey& attempt, Metrics values);
  /// Tells all of it again.
  void repeat();

 private:
  struct Held {
    Metrics values;
    bool told = false;
  };

  void tell_later();
  void tell();

  const ExecutorHost& host_;
  Duration interval_;
  std::map<AttemptKey, Held> held_;
  std::optional<Instant> told_at_;
  bool waits_ = false;  ///< for the time to tell
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::process

#pragma once

#include <map>
#include <memory>
#include <optional>

#include "model/task_metrics.hpp"
#include "workers/executor.hpp"
#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/shim/shim_logs.hpp"

namespace muster::process {

/// Holds what the attempts of an instance report of themselves, and how far files of their output
/// are full, and tells its worker of what is new: values of all of them together, at most once in
/// an interval. Values may get lost on their way to the master, so that the last ones of an attempt
/// are kept until its end is settled.
class MetricsOutbox {
 public:
  /// The host outlives it.
  MetricsOutbox(const ExecutorHost& host, Duration interval) : host_(host), interval_(interval) {}

  /// All that the attempt has reported so far.
  void note(const AttemptKey& attempt, Metrics values);
  /// How the replica is doing, which is told at once.
  void note(const AttemptKey& attempt, ReplicaState replica);
  /// How far files are full, which is told at once.
  void note(const AttemptKey& attempt, const FilledBytes& filled);
  /// The attempt is over: values that were not passed on yet are passed on at once. Values that no
  /// task can report come from a file that the task had its hands on, and are dropped.
  void end(const AttemptKey& attempt, Metrics values);
  /// Tells all of it again, that of attempts that are over at once.
  void repeat();
  /// The attempt is over, and there is something to repeat of it.
  bool keeps(const AttemptKey& attempt) const;
  /// The end of the attempt is on record: it is forgotten, unless it runs.
  void settle(const AttemptKey& attempt);

 private:
  struct Held {
    Metrics values;
    bool told = false;
    bool over = false;
    std::optional<ReplicaState> replica{};  ///< of a service, until it is over
    FilledBytes filled{};                   ///< likewise
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

#pragma once

#include <functional>
#include <map>
#include <optional>

#include "actors/messages/messages.hpp"
#include "actors/time/alarm.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/master.hpp"

namespace muster {

/// Takes in what tasks report of themselves, by the word of their workers. The newest values of all
/// of them go on record together, at most once in `master.metrics_interval`: however often tasks
/// report, the journal grows no faster.
class MetricsIntake {
 public:
  /// `recorded` is called behind each record.
  MetricsIntake(Master& master, PartHost& host, std::function<void()> recorded);

  /// Of attempts that are not on the instance now nothing is taken.
  void hear(const MetricsReport& report);
  /// The attempt is about to end: what it has reported goes on record before that.
  void settle(TaskId task);

 private:
  void record();

  Master& master_;
  PartHost& host_;
  std::function<void()> recorded_;
  Alarm<PartHost> due_;
  std::optional<Instant> last_;  ///< when something was recorded last
  std::map<TaskId, AttemptMetrics> waiting_;
};

}  // namespace muster

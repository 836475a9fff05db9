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
  struct Host {
    /// Called behind each record.
    std::function<void()> recorded;
    /// The journal takes what is recorded.
    std::function<bool()> takes_more;
  };
  MetricsIntake(Master& master, PartHost& host, Host hooks);

  /// Of attempts that are not on the instance now nothing is taken.
  void hear(const MetricsReport& report);
  /// The attempt is about to end: its newest values go on record before that, those of others when
  /// they are due.
  void settle(TaskId task);

 private:
  void record_due();
  void record(std::map<TaskId, AttemptMetrics> newest);

  Master& master_;
  PartHost& host_;
  Host hooks_;
  Alarm<PartHost> due_;
  std::optional<Instant> last_;  ///< when values were recorded last, but for those of an end
  /// One of a task at most, however long nothing is recorded.
  std::map<TaskId, AttemptMetrics> waiting_;
};

}  // namespace muster

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/event.hpp"

namespace muster::replay {

/// Watches a run in which nothing survives a stop for jobs that the day's cap never lets end: a
/// task that needs more at a stretch than a day's money pays for is stopped each day and begins
/// anew the next.
class CapLosses {
 public:
  /// Takes an event of the log in; returns once a job that the cap has stopped on that number of
  /// days, with no task of it finished meanwhile.
  std::optional<JobId> observe(const Event& event);

  static constexpr int kMostDays = 10;

 private:
  struct Losses {
    int days = 0;
    std::int32_t last_day = -1;
  };

  std::optional<JobId> stopped(InstanceId instance, std::int32_t day);

  /// Where a task was started last, if it was, and whose it is.
  struct Place {
    InstanceId instance;
    JobId job;
  };
  std::map<TaskId, Place> places_;              ///< of tasks that have not finished
  std::map<JobId, std::vector<TaskId>> tasks_;  ///< of jobs no part of which is over
  std::map<JobId, Losses> losses_;
};

}  // namespace muster::replay

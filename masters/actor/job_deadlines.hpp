#pragma once

#include <map>
#include <set>
#include <utility>

#include "actors/time/alarm.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/master.hpp"

namespace muster {

/// Ends jobs that are not over at their deadlines. O(log n) of jobs with a deadline.
class JobDeadlines {
 public:
  /// Both have to outlive it.
  JobDeadlines(Master& master, PartHost& host)
      : master_(master), host_(host), alarm_(host, [this] { look(); }) {}

  /// Those of the master's jobs, after its start.
  void recall();
  /// The master has taken the job.
  void add(JobId job, Instant deadline);
  /// The job is over.
  void drop(JobId job);

 private:
  void look();

  Master& master_;
  PartHost& host_;
  Alarm<PartHost> alarm_;
  std::set<std::pair<Instant, JobId>> due_;
  std::map<JobId, Instant> deadlines_;  ///< of each in due_
};

}  // namespace muster

#pragma once

#include <chrono>
#include <cstdint>

#include "model/time.hpp"

namespace muster::own {

/// Run time that is assumed of a long job's tasks, for the order of the queue.
enum class TaskTimes : std::uint8_t {
  off,     ///< nothing: the number of unstarted tasks decides
  learnt,  ///< the mean of its tasks that have finished; before that, of those of all long jobs
  known    ///< the job's statement or its site's prediction; without either, as learnt
};

/// Parameters of the policy for masters whose instances are given.
struct FleetParams {
  double reserve = 0.02;                  ///< share of capacity that long tasks leave to others
  TaskTimes task_times = TaskTimes::off;  ///< for the order of long jobs
  double age_s = 0;                       ///< time by which a task yet to start puts its job back
  Duration cutoff{std::chrono::minutes{10}};  ///< a job with a task that runs longer is long
  Duration starve{std::chrono::hours{24}};    ///< wait after which a job goes first; 0: never
  std::uint32_t max_passes = 1000;            ///< starts behind a task before room is kept for it
};

}  // namespace muster::own

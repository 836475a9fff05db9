#pragma once

#include <chrono>
#include <cstdint>

#include "model/time.hpp"

namespace muster::own {

/// What is taken as the run time of a long job's tasks, for the order of the queue.
enum class TaskTimes : std::uint8_t {
  off,     ///< nothing: the number of unstarted tasks decides
  learnt,  ///< the mean of its tasks that have finished; before that, of those of all long jobs
  known    ///< what the job says or its site predicts; where neither does, as learnt
};

/// What the policy can be told about masters whose instances are given.
struct FleetParams {
  double reserve = 0.02;                      ///< share of capacity that long tasks leave to others
  TaskTimes task_times = TaskTimes::off;      ///< for the order of long jobs
  double age_s = 0;                           ///< a task yet to start puts its job back by so much
  Duration cutoff{std::chrono::minutes{10}};  ///< a job with a task that runs longer is long
  Duration starve{std::chrono::hours{24}};    ///< who has waited so long goes first; 0: nobody
  std::uint32_t max_passes = 1000;            ///< starts behind a task before room is kept for it
};

}  // namespace muster::own

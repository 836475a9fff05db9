#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/event.hpp"
#include "model/job.hpp"
#include "model/money.hpp"

namespace muster {

/// History of one task, as far as its users read it.
struct TaskHistory {
  Attempt attempts = 0;
  bool finished = false;
  std::uint32_t moves = 0;
  std::uint32_t failures = 0;         ///< attempts that failed
  std::string reason;                 ///< of the last attempt that did not finish, blameless or not
  InstanceId instance;                ///< the last one
  TypeId type;                        ///< of that instance
  std::optional<Instant> started_at;  ///< of the first attempt
  std::optional<Instant> ended_at;    ///< of the last one that ended
  ProcessEnd end;                     ///< of the last one that ended
  Money cost;                         ///< known when the job is over
  FailureKind failure = FailureKind::unknown;  ///< the kind of the last one
  bool failed = false;                         ///< for good, with that one
  std::uint32_t losses = 0;                    ///< attempts that ended by a fault of their worker
  Metrics metrics{};  ///< metrics that it reported last; known when the job is over
};

/// A job that is over, as its users want to read of it later.
struct JobHistory {
  Job job;
  JobOutcome outcome = JobOutcome::completed;
  Instant accepted_at, over_at;
  double mean_throughput = 1;
  std::vector<TaskHistory> tasks;  ///< one a task of the job, in its order
};

}  // namespace muster

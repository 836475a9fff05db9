#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/time.hpp"
#include "tools/cli/client_options.hpp"

namespace muster::cli {

/// The exit code of a command that waited and was told to stop, by Ctrl-C or because a job was
/// cancelled.
inline constexpr int kStopped = 130;

/// The exit code of who has waited as long as was said, as that of `timeout`.
inline constexpr int kTimedOut = 124;

/// How somebody waits.
struct WaitOptions {
  bool show_progress = false;  ///< where the standard error is a terminal that a line is drawn on
  bool accepted = true;        ///< the jobs were taken by this very command
  std::optional<Duration> at_most{};  ///< nothing: as long as it takes
};

/// Waits until all jobs are over and returns their exit code: 0 when all completed, else by the
/// first that did not: the exit code of its failed task with the lowest index (1 when there is no
/// such code), kStopped when it was cancelled; kTimedOut when they are not over in time. Ctrl-C
/// ends the waiting only. With JSON wanted, prints {"jobs": [...]} with each job's document at the
/// end.
int wait_for_jobs(const ClientOptions& options, const std::vector<std::uint64_t>& jobs,
                  const WaitOptions& how);

/// Exit code for a job that is over.
int exit_code_of(const JobView& job);

}  // namespace muster::cli

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "workers/process/attempt_dir.hpp"
#include "workers/process/descriptor.hpp"

namespace muster::process {

/// Where a task runs and what it is told.
struct TaskPlace {
  std::string work_dir;
  std::string progress_socket;  ///< what MUSTER_SOCKET says
  std::string home;
  std::string attempt_dir;
};

/// Tells the folder of the attempt; all that a task starts carries it.
inline constexpr const char* kMarkVariable = "MUSTER_ATTEMPT_DIR";

/// The whole environment of a task, as NAME=VALUE: the minimal one, the job's own on top, and what
/// Muster says on top of that.
std::vector<std::string> environment_of(const Order& order, const TaskPlace& place);

/// A process that was forked to become the task.
struct ForkedTask {
  pid_t pid = -1;
  Descriptor out;  ///< read ends, non-blocking
  Descriptor err;
  Descriptor news;  ///< ends without a word once the program runs, else a StartTrouble comes first
};

/// How far the start of a task came, and the errno that ended it there.
enum class StartStage : int { process, user, sight, work_dir, program };
struct StartTrouble {
  StartStage stage = StartStage::process;
  int error = 0;
};

/// Starts the order's program as the leader of a session of its own, in the group (-1: none). It
/// dies with the calling process. Nothing when there is no process or pipe to be had: see errno.
std::optional<ForkedTask> fork_task(const Order& order, const TaskPlace& place, int group_folder);

/// Whose fault it is: what was to be started, or the machine that has run out of something.
EndKind end_kind_of(const StartTrouble& trouble, const Order& order);

/// "cannot start: /x: No such file or directory"
std::string describe(const StartTrouble& trouble, const Order& order, const TaskPlace& place);

}  // namespace muster::process

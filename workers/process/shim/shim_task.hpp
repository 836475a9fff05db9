#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "workers/process/descriptor.hpp"
#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/start_trouble.hpp"

namespace muster::process {

/// Where a task runs and what it is told.
struct TaskPlace {
  std::string work_dir;
  std::string progress_socket;  ///< the value of MUSTER_SOCKET
  std::string home;
  std::string attempt_dir;
  std::string script;  ///< the file of the order's script; empty: no script
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

/// A command beside a task that runs: its words, and its streams, which may be one terminal.
struct SideProgram {
  std::vector<std::string> argv;
  std::string term;  ///< the variable TERM; empty: not set
  bool terminal = false;
  int in = -1;
  int out = -1;
  int err = -1;
  pid_t task = -1;  ///< the task's process, whose namespaces it enters
};

/// Starts a command as the order's program would be started, with the user, the limits, the folder,
/// the environment and the sight of the task. The caller keeps the streams; those of the result are
/// empty.
std::optional<ForkedTask> fork_beside(const Order& order, const TaskPlace& place, int group_folder,
                                      const SideProgram& side);

/// Starts the order's program as the leader of a session of its own, in the group (-1: no group).
/// It dies with the calling process. Nothing when there is no process or pipe to be had: see errno.
std::optional<ForkedTask> fork_task(const Order& order, const TaskPlace& place, int group_folder);

}  // namespace muster::process

#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/limits/limits.hpp"
#include "workers/process/start_trouble.hpp"

namespace muster::process {

/// Why a shim ends its task.
enum class Ending : std::uint8_t { none, stop, time, memory, disk, processes, lease };

/// The start and the end of a task as its shim has seen them.
struct TaskEnd {
  Ending why = Ending::none;  ///< the first cause; `none`: the task ended by itself
  std::string start_failure;  ///< set: the program never ran
  EndKind start_failure_kind = EndKind::not_launched;
  std::int32_t start_failure_code = kCannotRun;
  int status = 0;  ///< as wait() tells it
  rusage usage{};
  std::int64_t started_ns = 0;     ///< by the wall's clock, since 1970
  Duration asked_to_stop{};        ///< since boot
  std::uint64_t peak_bytes = 0;    ///< the most that its processes held when they were looked at
  std::uint64_t over_bytes = 0;    ///< their memory when the task was ended for it
  std::size_t over_processes = 0;  ///< their number when the task was ended for it
  std::string disk_reason;         ///< set: it was ended for what it took of a full disk
  std::string outputs_fault;       ///< set: outputs are missing, or were not kept
  bool outputs_missing = false;    ///< of the fault: nothing else but that patterns match nothing
  bool outputs_trouble = false;    ///< of the fault: it is not the task's
};

/// The end in the words of a result that says nothing of logs and folder. `group`: the task's;
/// null without one.
AttemptResult result_of(const TaskEnd& end, const Order& order, const TaskGroup* group);

}  // namespace muster::process

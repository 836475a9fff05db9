#pragma once

#include <cstdint>

#include "model/cluster_state.hpp"

namespace muster {

/// How a program came to its end, as its worker saw it.
enum class ProgramEnd : std::uint8_t {
  unasked,       ///< before SIGTERM was sent to it, in whatever way
  zero,          ///< after that, with exit code 0
  checkpointed,  ///< with kCheckpointedExit
  other_code,
  signal  ///< the one that it was asked by, SIGKILL after its grace, or another
};

/// The cause of an attempt's stop.
enum class StoppedBy : std::uint8_t {
  nobody,
  move,
  resize,  ///< its elastic job is to have another width
  drain,
  notice,  ///< its spot instance goes, by its cloud or by `muster interrupt`
  cap,     ///< the day's
  gang_restart,
  time_limit,
  cancel,
  max_fails,
  gang_end
};

/// Meaning of an end for the task.
enum class StopMeaning : std::uint8_t {
  own_end,  ///< by the program's end: finished or failed
  left,     ///< it goes on elsewhere, from the last checkpoint that there is
  saved,    ///< by the program's end, and it has left a new checkpoint
  done,     ///< it has finished
  stopped,  ///< its job is being ended
  failed
};

/// The table of docs/tasks.md, "The meaning of an end".
StopMeaning meaning_of(ProgramEnd end, StoppedBy by, const Job& job);

/// How a program ended that was asked to stop.
ProgramEnd end_after_stop(std::int32_t exit_code);

/// The cause of the task's stop, as far as the state tells: the end of its job goes before a move.
/// All from `move` to `gang_restart` have equal effects.
StoppedBy stopped_by(const ClusterState& state, const TaskRow& task);

}  // namespace muster

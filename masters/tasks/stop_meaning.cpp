#include "masters/tasks/stop_meaning.hpp"

#include "model/task_wanted.hpp"

namespace muster {
namespace {

/// As shells say it: 128 + n was ended by signal n.
constexpr std::int32_t kSignalCode = 128;

/// Of a task that is wanted elsewhere, or later.
StopMeaning meaning_of_leaving(ProgramEnd end, const Job& job) {
  if (end == ProgramEnd::checkpointed) return StopMeaning::saved;
  if (end != ProgramEnd::zero) return StopMeaning::left;
  // Services and many programs end so when they are asked to, whatever they have still to do.
  if (job.done_on_stop) return StopMeaning::done;
  return job.checkpoints ? StopMeaning::saved : StopMeaning::left;
}

}  // namespace

StopMeaning meaning_of(ProgramEnd end, StoppedBy by, const Job& job) {
  if (end == ProgramEnd::unasked) return StopMeaning::own_end;
  switch (by) {
    case StoppedBy::nobody:
      return StopMeaning::own_end;
    case StoppedBy::move:
    case StoppedBy::resize:
    case StoppedBy::drain:
    case StoppedBy::notice:
    case StoppedBy::cap:
    case StoppedBy::gang_restart:
      return meaning_of_leaving(end, job);
    case StoppedBy::time_limit:
      return StopMeaning::failed;
    case StoppedBy::cancel:
    case StoppedBy::max_fails:
    case StoppedBy::gang_end:
      return StopMeaning::stopped;
  }
  return StopMeaning::own_end;
}

ProgramEnd end_after_stop(std::int32_t exit_code) {
  if (exit_code == 0) return ProgramEnd::zero;
  if (exit_code == kCheckpointedExit) return ProgramEnd::checkpointed;
  return exit_code > kSignalCode ? ProgramEnd::signal : ProgramEnd::other_code;
}

StoppedBy stopped_by(const ClusterState& state, const TaskRow& task) {
  const JobRow& job = state.job(task.job);
  if (job.terminal_outcome) {
    const JobOutcome outcome = *job.terminal_outcome;
    if (outcome == JobOutcome::cancelled || outcome == JobOutcome::expired) {
      return StoppedBy::cancel;
    }
    return job.job.gang ? StoppedBy::gang_end : StoppedBy::max_fails;
  }
  if (is_beyond_width(task, job)) return StoppedBy::resize;
  if (task.target != kNoSlot && task.target == task.at) return StoppedBy::gang_restart;
  return state.instance(task.at).released ? StoppedBy::drain : StoppedBy::move;
}

}  // namespace muster

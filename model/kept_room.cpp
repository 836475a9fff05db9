#include "model/kept_room.hpp"

namespace muster {

std::optional<Duration> said_run_time(const ClusterState& state, const TaskRow& task) {
  const std::optional<Duration>& own = state.spec(task).runtime_hint;
  return own ? own : state.job(task.job).job.runtime_hint;
}

bool KeptRoom::lets(const ClusterState& state, const TaskRow& one, InstanceId to,
                    Instant now) const {
  const ClosedInstance* there = closed_as(to);
  if (there == nullptr || !is_before(state.job(one.job))) return true;
  if (one.at != kNoSlot && state.instance(one.at).id == to) return true;
  const auto run = said_run_time(state, one);
  return there->until && run && now + *run <= *there->until;
}

}  // namespace muster

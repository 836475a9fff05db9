#include "model/stay.hpp"

#include <algorithm>

namespace muster {
namespace {

/// Rows that an earlier version kept do not know when their attempts started.
Duration running_for(const ClusterState& state, const TaskRow& task, Instant now) {
  return now - std::max(task.started_at, state.job(task.job).accepted_at);
}

}  // namespace

Refusal why_confined(const ClusterState& state, const TaskRow& task) {
  return {RefusalKind::not_now,
          RefusalCode::no_progress,
          {},
          static_cast<double>(state.fruitless(task)),
          static_cast<double>(state.max_interruptions())};
}

std::optional<Refusal> why_it_stays(const ClusterState& state, const TaskRow& task, StayRule rule) {
  const JobRow& job = state.job(task.job);
  // A replica that is not wanted leaves when others do without it.
  if (task.phase == TaskPhase::running && job.job.service() != nullptr && !task.wanted) {
    return Refusal{RefusalKind::not_now, RefusalCode::in_transit, {}, 0, 0};
  }
  // A released instance is to be left, whatever its tasks have run.
  if (task.phase != TaskPhase::running || state.instance(task.at).released) return std::nullopt;
  if (state.is_confined(task)) return why_confined(state, task);
  if (!job.job.movable) return Refusal{RefusalKind::not_now, RefusalCode::not_movable, {}, 0, 0};
  Duration stayed = running_for(state, task, rule.now);
  // A gang moves as one: it stays as long as its latest start demands.
  if (job.job.gang && rule.min_stay > Duration{}) {
    for (Slot slot : job.tasks) {
      const TaskRow& peer = state.task(slot);
      if (peer.phase != TaskPhase::running) continue;
      stayed = std::min(stayed, running_for(state, peer, rule.now));
    }
  }
  if (stayed >= rule.min_stay) return std::nullopt;
  return Refusal{RefusalKind::not_now,
                 RefusalCode::min_stay,
                 {},
                 to_seconds(rule.min_stay),
                 to_seconds(std::max(stayed, Duration{}))};
}

bool keeps_work(const ClusterState& state, const TaskRow& task) {
  // A task that once came back from a checkpoint keeps some, whatever its job says.
  const bool saves = state.job(task.job).job.checkpoints || task.ran > Duration{};
  return saves && (task.at == kNoSlot || !state.instance(task.at).own_checkpoints);
}

Duration unsaved(const ClusterState& state, const TaskRow& task, Instant now) {
  if (task.phase != TaskPhase::running || keeps_work(state, task)) return {};
  return std::max(Duration{}, running_for(state, task, now));
}

}  // namespace muster

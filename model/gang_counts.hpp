#pragma once

#include <algorithm>

#include "model/cluster_state.hpp"

// How the counts of a job and of its gang follow its tasks; only the cluster state changes them.

namespace muster {

/// The job's own count of its tasks in the phase; null when it keeps no such count.
inline std::uint32_t* tally(JobRow& job, TaskPhase phase) {
  switch (phase) {
    case TaskPhase::pending:
      return &job.pending;
    case TaskPhase::held:
      return &job.held;
    case TaskPhase::capped:
      return &job.capped;
    case TaskPhase::assigned:
      return nullptr;  // among what the gang counts
    case TaskPhase::starting:
      return &job.starting;
    case TaskPhase::running:
      return &job.running;
    case TaskPhase::stopping:
      return &job.stopping;
    case TaskPhase::finished:
      return &job.finished;
    case TaskPhase::failed:
      return &job.failed;
  }
  return nullptr;
}

/// Last reason for which the task was told to wait, as far as its gang counts it.
inline ToldReason told_of(const TaskRow& row) {
  if (row.phase != TaskPhase::assigned) return ToldReason::not_assigned;
  if (row.reason.code == RefusalCode::awaiting_peers) return ToldReason::awaiting_peers;
  if (row.reason.code == RefusalCode::awaiting_instance) return ToldReason::awaiting_instance;
  return ToldReason::other;
}

/// A task was told something else than before.
inline void tell(GangCounts& gang, ToldReason before, ToldReason now) {
  const auto change = [&](std::uint32_t& count, bool was, bool is) {
    if (is && !was) ++count;
    if (was && !is) --count;
  };
  constexpr ToldReason kNone = ToldReason::not_assigned;
  change(gang.assigned, before != kNone, now != kNone);
  change(gang.told_peers, before == ToldReason::awaiting_peers, now == ToldReason::awaiting_peers);
  change(gang.told_instance, before == ToldReason::awaiting_instance,
         now == ToldReason::awaiting_instance);
}

/// Counts one more task that keeps the gang from starting; `index` is its place in the job.
inline void add_blocker(GangCounts& gang, std::uint32_t index) {
  gang.first_blocker = gang.blockers == 0 ? index : std::min(gang.first_blocker, index);
  ++gang.blockers;
}

}  // namespace muster

#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"

namespace muster {

/// The next step of a service: which of its tasks are to be replicas, and which of those that leave
/// may stop now.
struct Rollout {
  std::vector<std::pair<TaskId, CauseCode>> want;
  std::vector<std::pair<TaskId, CauseCode>> unwant;
  std::vector<TaskId> stop;  ///< they run and are not wanted
  /// Replicas that leave, each with one that waits for its room: the former stay instead.
  std::vector<std::pair<TaskId, TaskId>> stay;
  std::vector<TaskId> placeless;  ///< they run, are wanted and have no place to stay at
  bool settles = false;           ///< all replicas of the newest revision are healthy
  std::optional<JobId> gives_up;  ///< the newest revision did not come about in its time
  std::vector<std::pair<JobId, JobOutcome>> over;  ///< revisions of which no replica is left
  std::optional<Instant> look_again;               ///< when time alone may bring another step

  bool is_empty() const {
    return want.empty() && unwant.empty() && stop.empty() && stay.empty() && placeless.empty() &&
           !settles && !gives_up && over.empty();
  }
};

/// When a step is decided.
struct RolloutClock {
  Instant now;
  Instant began;  ///< of the present master: before that it could hear of no replica
};

/// The revisions are those of one service that are not over, the oldest first. The newest that is
/// not given up has the service. While others still have replicas its own come as those leave, at
/// most `surge` more at once than the service is to have.
///
/// The disruption budget: a replica that leaves is stopped only when as many as the service is to
/// have, less `max_unavailable`, are healthy without it: ready for `healthy_for`. One that is not
/// ready serves no client and may stop at once, and one whose worker is silent does not count.
/// Where one may not stop before another is ready that waits for its room, it stays, as it does
/// where the other one fails with another size.
/// O(tasks of the revisions).
Rollout next_step(const ClusterState& state, std::span<const JobId> revisions, RolloutClock clock);

/// Nothing but a replica's own end can bring the service another step: its only revision is settled
/// and has the replicas that it is to have. O(1).
bool is_steady(const ClusterState& state, std::span<const JobId> revisions);

}  // namespace muster

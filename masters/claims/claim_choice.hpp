#pragma once

#include "config/master_settings.hpp"
#include "masters/claims/claims.hpp"
#include "model/event.hpp"

namespace muster {

/// Inputs of a choice of room besides the job.
struct ClaimChoiceInput {
  const ClusterState& state;
  const MasterSettings& settings;
  bool owns_fleet = false;
  Instant now;
  /// For which a day's money has to pay an instance that is asked for (SpendGuard).
  Duration affordable{};
};

/// Which room is kept for the job, which waits as said: the instance that holds it and has room for
/// it soonest, or those that empty soonest and whose end leaves the caps or a full cloud room for
/// what it would be rented. Instances that `present` has closed for it stay closed, and one more is
/// closed. Nothing can hold it: the claim says so by keeping nothing. O(instances and tasks on
/// them).
RoomClaimed choose_room(const ClaimChoiceInput& in, const JobRow& job, const RoomWait& wait,
                        const KeptRoom* present);

/// The task to keep room for: `last`, or the next one of the job that waits. Null: no task waits.
const TaskRow* waiting_task(const ClusterState& state, const JobRow& job, TaskId last);

}  // namespace muster

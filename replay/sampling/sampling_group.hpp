#pragma once

#include <string>
#include <vector>

#include "actors/time/clock.hpp"
#include "replay/sampling/composition.hpp"
#include "replay/sampling/group_event_log.hpp"
#include "replay/sampling/sampling_messages.hpp"

namespace muster::sampling {

/// The state that the actors of a group share: its members and its event log. They run one at a
/// time in virtual time; the composition root owns it and lets go of the handles in the end.
struct GroupShared {
  struct Member {
    InstanceId instance;
    GroupWorker worker;
  };

  GroupParams params;                        ///< those of the composition
  const Composition* composition = nullptr;  ///< outlives the actors
  const Catalog* catalog = nullptr;
  ClockOrigin origin;
  GroupEventLog* event_log = nullptr;
  std::vector<GroupScheduler> schedulers;  ///< in the order of the composition
  GroupSiteActor site;
  Roster roster;                ///< once the group is open
  std::vector<Member> members;  ///< once the group is open; by WorkerIndex

  InstanceId instance(WorkerIndex worker) const { return members[worker].instance; }
  /// Some worker may run the job's tasks, at some time.
  bool has_place(const SampledJob& job) const;
  /// The message to the worker when the group opens.
  GroupMembership membership(WorkerIndex worker) const;
  void clear();
};

}  // namespace muster::sampling

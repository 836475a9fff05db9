#pragma once

#include <optional>
#include <vector>

#include "actors/messages/interfaces.hpp"
#include "schedulers/sampling/local_queue.hpp"
#include "schedulers/sampling/protocol.hpp"

// Messages of the actors of a sampling group, besides those of all actors. Such groups are for
// replay: these messages share by pointer, and all of them stay in the process.

namespace muster {

/// To a worker: the answer to its request for a task.
struct TaskAnswer {
  std::uint32_t ticket = 0;
  std::optional<TaskOrder> order;  ///< absent: no task is left
};

}  // namespace muster

CAF_BEGIN_TYPE_ID_BLOCK(muster_sampling, caf::id_block::muster_handles::end)
CAF_ADD_TYPE_ID(muster_sampling, (muster::sampling::Reservation))
CAF_ADD_TYPE_ID(muster_sampling, (muster::sampling::Cancellation))
CAF_ADD_TYPE_ID(muster_sampling, (muster::sampling::TaskRequest))
CAF_ADD_TYPE_ID(muster_sampling, (muster::sampling::Rejection))
CAF_ADD_TYPE_ID(muster_sampling, (muster::sampling::TaskDone))
CAF_ADD_TYPE_ID(muster_sampling, (muster::sampling::TaskBatch))
CAF_ADD_TYPE_ID(muster_sampling, (muster::TaskAnswer))
CAF_ADD_ATOM(muster_sampling, muster, open_atom, "open")
CAF_END_TYPE_ID_BLOCK(muster_sampling)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(muster::sampling::Reservation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(muster::sampling::Cancellation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(muster::sampling::TaskRequest)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(muster::sampling::Rejection)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(muster::sampling::TaskDone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(muster::sampling::TaskBatch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(muster::TaskAnswer)

namespace muster {

/// A scheduler of a sampling group, of whatever kind. `open`: the workers are there.
using GroupScheduler =
    caf::typed_actor<caf::reacts_to<open_atom>, caf::reacts_to<sampling::TaskBatch>,
                     caf::reacts_to<sampling::TaskRequest>, caf::reacts_to<sampling::Rejection>,
                     caf::reacts_to<sampling::TaskDone>, caf::reacts_to<Wakeup>>;

/// Where the jobs of a sampling group come in. `open`: the workers are there.
using GroupSiteActor =
    Together<SiteForSubmitters, JobListener, OwnSteps>::extend<caf::reacts_to<open_atom>>;

/// Message to a worker that becomes part of a sampling group.
struct GroupMembership {
  sampling::WorkerIndex index = 0;
  sampling::QueueRules rules;
  Duration network_delay{};
  GroupScheduler short_jobs;             ///< is asked for tasks of short jobs
  GroupScheduler long_jobs;              ///< is asked for tasks of long jobs, and told of their end
  std::vector<GroupScheduler> all_ends;  ///< told of the end of every task
};

}  // namespace muster

CAF_BEGIN_TYPE_ID_BLOCK(muster_membership, caf::id_block::muster_sampling::end)
CAF_ADD_TYPE_ID(muster_membership, (muster::GroupMembership))
CAF_END_TYPE_ID_BLOCK(muster_membership)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(muster::GroupMembership)

namespace muster {

/// A worker that can be part of a sampling group; to any other master it is a worker like all.
using GroupWorker =
    WorkerActor::extend<caf::reacts_to<GroupMembership>, caf::reacts_to<sampling::Reservation>,
                        caf::reacts_to<sampling::Cancellation>, caf::reacts_to<TaskAnswer>>;

/// The messages of add_messages(), and those above.
void add_sampling_messages(caf::actor_system_config& config);

}  // namespace muster

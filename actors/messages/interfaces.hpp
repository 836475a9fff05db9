#pragma once

#include <caf/all.hpp>
#include <string>
#include <vector>

#include "actors/messages/messages.hpp"
#include "actors/messages/queries.hpp"

// Which actor hears which messages: one interface for each kind of speaker. An actor is all of its
// interfaces together, and its handle converts by itself to each of them; a speaker holds the
// interface that is its own. docs/add-a-message.md lists the places that a new message touches.

namespace muster {

/// All messages of several interfaces, each once.
template <class... Interfaces>
using Together =
    caf::detail::tl_apply_t<caf::detail::tl_union_t<typename Interfaces::signatures...>,
                            caf::typed_actor>;

/// The steps that an actor asks to be woken for. Nothing outside its process can send one.
using OwnSteps = caf::typed_actor<caf::reacts_to<Wakeup>>;

/// Told of the ends of the jobs that it watches, each once.
using JobListener = caf::typed_actor<caf::reacts_to<over_atom, JobEnd>>;

// Messages that more than one interface has.

/// Answered when the jobs are durable. Jobs may come again.
using HandJobs = caf::replies_to<hand_atom, std::vector<Job>>::with<std::vector<SubmitVerdict>>;
/// Answered with those that are over; the listener is told of the others, of those too that come
/// later, until it ends or says `unwatch`. Nothing of that is kept over a restart: the listener
/// asks again.
using WatchJobs =
    caf::replies_to<watch_atom, JobListener, std::vector<JobId>>::with<std::vector<JobEnd>>;
/// Answered when it is durable; may be repeated.
using CancelJobs =
    caf::replies_to<cancel_atom, std::vector<JobId>>::with<std::vector<CancelVerdict>>;
using DrainInstance = caf::replies_to<drain_atom, InstanceId>::with<InstanceId>;
using TellLoad = caf::replies_to<LoadQuestion>::with<LoadReport>;

/// Runs the attempts of one instance's tasks. Repeated and outdated orders change nothing.
/// `ack` says that the outcome of an attempt is durable and need not be told again; `greet`
/// asks for a (new) hello; requests for logs, for commands and for usage are answered to the
/// master.
using WorkerActor = caf::typed_actor<
    caf::reacts_to<start_atom, TaskOrder>, caf::reacts_to<stop_atom, TaskId, Attempt>,
    caf::reacts_to<ack_atom, TaskId, Attempt>, caf::reacts_to<greet_atom>,
    caf::reacts_to<sample_atom, std::uint64_t>, caf::reacts_to<LogRequest>,
    caf::reacts_to<ExecRequest>, caf::reacts_to<UsageRequest>, caf::reacts_to<Wakeup>>;

// A master owns a cell: its jobs, its instances, and what is decided about them.

/// A master as sites know it. `watch` is answered with the parts of jobs that are over.
using MasterForSites =
    caf::typed_actor<HandJobs, WatchJobs,
                     caf::reacts_to<unwatch_atom, JobListener, std::vector<JobId>>, CancelJobs,
                     TellLoad, caf::replies_to<CounterpartQuestion>::with<CounterpartReport>>;

/// A master as its workers know it.
using MasterForWorkers = caf::typed_actor<
    caf::reacts_to<hello_atom, WorkerHello, WorkerActor>, caf::reacts_to<WorkerReport>,
    caf::reacts_to<SampleAnswer>, caf::reacts_to<LogAnswer>, caf::reacts_to<MetricsReport>,
    caf::reacts_to<FilledLogs>, caf::reacts_to<ExecAnswer>, caf::reacts_to<UsageAnswer>>;

/// A master as a link knows it that brings it what workers say: a step behind what was passed on
/// tells the link that this was heard.
using LinkedMaster = Together<MasterForWorkers, OwnSteps>;

/// A master as the cloud knows it: the cloud's notices and what became of orders.
using MasterForCloud = caf::typed_actor<caf::reacts_to<CloudReport>>;

/// A master as its node knows it. `greet` says that the cloud can be reached again.
using MasterForNode = caf::typed_actor<caf::reacts_to<greet_atom>>;

/// Users' orders to a master; a cancel comes by way of a site. They are few, short and final, and
/// go before all that waits (actors/messages/orders_first.hpp).
using MasterOrders =
    caf::typed_actor<CancelJobs, caf::replies_to<hold_atom, JobId, bool>::with<JobId>,
                     caf::replies_to<scale_atom, JobId, std::uint32_t>::with<JobId>, DrainInstance>;

/// A master as users know it, by way of the API.
using MasterForUsers = Together<MasterOrders, MasterQueries>;

using MasterActor = Together<MasterForSites, MasterForWorkers, MasterForCloud, MasterForNode,
                             MasterOrders, MasterQueries, OwnSteps>;

// The cloud rents instances. The outcome of an order is reported to the master that sent it last;
// an order that is repeated changes nothing, and its present state is reported again.

/// The cloud as masters know it. `greet` asks for the time of the cloud's clock, by which it bills;
/// every report says it.
using CloudForMasters = caf::typed_actor<caf::reacts_to<launch_atom, LaunchOrder, MasterForCloud>,
                                         caf::reacts_to<end_atom, InstanceId, MasterForCloud>,
                                         caf::reacts_to<greet_atom, MasterForCloud>>;

/// Users' orders to the cloud. `interrupt` makes it take a spot instance back.
using CloudUserOrders =
    caf::typed_actor<caf::replies_to<interrupt_atom, InstanceId>::with<InstanceId>>;

/// The cloud as users know it, by way of the API.
using CloudForUsers = Together<CloudUserOrders, CloudQueries>;

using CloudActor = Together<CloudForMasters, CloudUserOrders, CloudQueries, OwnSteps>;

// A site scheduler takes jobs in at one place of the world and hands them to masters. It is itself
// the listener of masters.

/// A site as those know it who submit jobs. `hand` takes jobs without ids and answers with the ids
/// they got; `watch` speaks of whole jobs; the site sees to it that everybody hears of a cancel.
using SiteForSubmitters =
    caf::typed_actor<HandJobs, WatchJobs, caf::replies_to<cancel_atom, JobId>::with<CancelReport>>;

/// A site as other sites know it. `forward` takes jobs that another site has numbered and could not
/// see to itself; that site goes on asking to cancel until this one has nothing of them on its way
/// any more. `watch` speaks of whole jobs.
using SiteForSites = caf::typed_actor<
    caf::replies_to<forward_atom, std::vector<Job>>::with<std::vector<SubmitVerdict>>, CancelJobs,
    TellLoad, WatchJobs>;

/// A hold or a release of a job that waits at the site.
using HoldWaiting = caf::typed_actor<caf::replies_to<hold_atom, JobId, bool>::with<JobId>>;

/// Goes before all that waits at a site: users' cancels, theirs and those of another site, and
/// their holds.
using SiteOrders =
    Together<caf::typed_actor<caf::replies_to<cancel_atom, JobId>::with<CancelReport>, CancelJobs>,
             HoldWaiting>;

/// A site as users know it, by way of the API.
using SiteForUsers = Together<HoldWaiting, SiteQueries>;

using SiteActor =
    Together<SiteForSubmitters, SiteForSites, JobListener, SiteOrders, SiteQueries, OwnSteps>;

/// The roles that a node of the control plane runs; null handles for roles that it does not have.
struct NodeRoles {
  std::string node;
  ClusterRoster roster;
  SiteActor site;
  MasterActor master;
  CloudActor cloud;
  bool numbered = true;  ///< there are ids and jobs whose meaning is in the roster's numbers
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, ClusterRoster& x) {
  return f(caf::meta::type_name("cluster_roster"), x.sites, x.masters);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, NodeRoles& x) {
  return f(caf::meta::type_name("node_roles"), x.node, x.roster, x.site, x.master, x.cloud,
           x.numbered);
}

/// The door of a node: the actor that other nodes meet first. A node says which roles it runs; a
/// node with another roster is turned away, with the numbers that it has to take when its own mean
/// nothing.
using NodeActor = caf::typed_actor<caf::replies_to<roles_atom, NodeRoles>::with<NodeRoles>>;

}  // namespace muster

// Handles that messages carry. Their places in the block are their numbers on the wire.
CAF_BEGIN_TYPE_ID_BLOCK(muster_handles, caf::id_block::muster_queries::end)
CAF_ADD_TYPE_ID(muster_handles, (muster::WorkerActor))
CAF_ADD_TYPE_ID(muster_handles, (muster::JobListener))
CAF_ADD_TYPE_ID(muster_handles, (muster::MasterForCloud))
CAF_ADD_TYPE_ID(muster_handles, (muster::CloudActor))
CAF_ADD_TYPE_ID(muster_handles, (muster::SiteActor))
CAF_ADD_TYPE_ID(muster_handles, (muster::NodeRoles))
CAF_ADD_TYPE_ID(muster_handles, (muster::NodeActor))
CAF_END_TYPE_ID_BLOCK(muster_handles)

namespace muster {

/// Makes the messages known to an actor system that is about to start.
void add_messages(caf::actor_system_config& config);

}  // namespace muster

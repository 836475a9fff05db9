#pragma once

#include <caf/all.hpp>
#include <cstdint>

#include "actors/messages/messages.hpp"
#include "model/views.hpp"

// Users' questions to masters, sites and the cloud, by way of the API. They change nothing, and
// their answers are views. docs/add-an-endpoint.md adds one.

// Their places in the block are their numbers on the wire.
CAF_BEGIN_TYPE_ID_BLOCK(muster_queries, caf::id_block::muster::end)
CAF_ADD_TYPE_ID(muster_queries, (muster::JobsQuestion))
CAF_ADD_TYPE_ID(muster_queries, (muster::JobQuestion))
CAF_ADD_TYPE_ID(muster_queries, (muster::FindQuestion))
CAF_ADD_TYPE_ID(muster_queries, (muster::RequestQuestion))
CAF_ADD_TYPE_ID(muster_queries, (muster::CostQuestion))
CAF_ADD_TYPE_ID(muster_queries, (muster::RentedQuestion))
CAF_ADD_TYPE_ID(muster_queries, (muster::JobsView))
CAF_ADD_TYPE_ID(muster_queries, (muster::JobDetails))
CAF_ADD_TYPE_ID(muster_queries, (muster::FoundView))
CAF_ADD_TYPE_ID(muster_queries, (muster::RequestView))
CAF_ADD_TYPE_ID(muster_queries, (muster::InstancesView))
CAF_ADD_TYPE_ID(muster_queries, (muster::CostView))
CAF_ADD_TYPE_ID(muster_queries, (muster::DecisionsView))
CAF_ADD_TYPE_ID(muster_queries, (muster::CellFigures))
CAF_ADD_TYPE_ID(muster_queries, (muster::SiteFigures))
CAF_ADD_TYPE_ID(muster_queries, (muster::CloudFigures))
CAF_ADD_TYPE_ID(muster_queries, (muster::PlanView))
CAF_ADD_TYPE_ID(muster_queries, (muster::RentedView))
CAF_ADD_TYPE_ID(muster_queries, (muster::HistoryView))
CAF_ADD_ATOM(muster_queries, muster, plan_atom, "plan")
CAF_ADD_ATOM(muster_queries, muster, instances_atom, "instances")
CAF_ADD_ATOM(muster_queries, muster, decisions_atom, "decisions")
CAF_ADD_ATOM(muster_queries, muster, figures_atom, "figures")
CAF_ADD_ATOM(muster_queries, muster, history_atom, "history")
CAF_ADD_ATOM(muster_queries, muster, series_atom, "series")
CAF_ADD_TYPE_ID(muster_queries, (muster::ServicesQuestion))
CAF_ADD_TYPE_ID(muster_queries, (muster::ServicesView))
CAF_ADD_TYPE_ID(muster_queries, (muster::DecisionsQuestion))
CAF_ADD_TYPE_ID(muster_queries, (muster::InstanceQuestion))
CAF_ADD_TYPE_ID(muster_queries, (muster::InstanceLife))
CAF_ADD_TYPE_ID(muster_queries, (muster::UsageQuestion))
CAF_ADD_TYPE_ID(muster_queries, (muster::UsageView))
CAF_ADD_TYPE_ID(muster_queries, (muster::UsageRequest))
CAF_ADD_TYPE_ID(muster_queries, (muster::UsageAnswer))
CAF_END_TYPE_ID_BLOCK(muster_queries)

namespace muster {

/// Users' questions to a master, which change nothing of its state and overtake nothing. `history`
/// asks for a number of hours, and `instances` for those of higher numbers, as many as go into one
/// answer. `figures` asks for counts that the master keeps, `series` for these with the series of
/// the metrics that tasks report: only /metrics shows them, and they cost a look at every value.
using MasterQueries = caf::typed_actor<
    caf::replies_to<JobsQuestion>::with<JobsView>, caf::replies_to<JobQuestion>::with<JobDetails>,
    caf::replies_to<FindQuestion>::with<FoundView>,
    caf::replies_to<RequestQuestion>::with<RequestView>,
    caf::replies_to<instances_atom, InstanceId>::with<InstancesView>,
    caf::replies_to<InstanceQuestion>::with<InstanceLife>,
    caf::replies_to<CostQuestion>::with<CostView>,
    caf::replies_to<ServicesQuestion>::with<ServicesView>,
    caf::replies_to<decisions_atom, DecisionsQuestion>::with<DecisionsView>,
    caf::replies_to<figures_atom>::with<CellFigures>,
    caf::replies_to<series_atom>::with<CellFigures>,
    caf::replies_to<history_atom, std::uint32_t>::with<HistoryView>,
    caf::replies_to<plan_atom, Job>::with<PlanView>, caf::replies_to<LogRequest>::with<LogAnswer>,
    caf::replies_to<ExecRequest>::with<ExecAnswer>,
    caf::replies_to<UsageQuestion>::with<UsageView>>;

/// Users' questions to the cloud.
using CloudQueries = caf::typed_actor<caf::replies_to<RentedQuestion>::with<RentedView>,
                                      caf::replies_to<figures_atom>::with<CloudFigures>>;

/// Users' questions to a site.
using SiteQueries = caf::typed_actor<caf::replies_to<JobsQuestion>::with<JobsView>,
                                     caf::replies_to<figures_atom>::with<SiteFigures>>;

}  // namespace muster

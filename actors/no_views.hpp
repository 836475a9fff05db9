#pragma once

#include <cstdint>
#include <utility>

#include "actors/messages.hpp"

// Behaviours for actors that stand for a master, a site or a cloud and have nothing to show.

namespace muster {

/// The behaviour of a master that hears the rest, and of nothing that is asked for knows anything.
template <class... Handlers>
MasterActor::behavior_type master_without_views(Handlers... handlers) {
  return {
      std::move(handlers)...,
      [](const JobsQuestion&) -> caf::result<JobsView> { return ActorError::unknown; },
      [](const JobQuestion&) -> caf::result<JobDetails> { return ActorError::unknown; },
      [](const FindQuestion&) -> caf::result<FoundView> { return ActorError::unknown; },
      [](const RequestQuestion&) -> caf::result<RequestView> { return ActorError::unknown; },
      [](instances_atom, InstanceId) -> caf::result<InstancesView> { return ActorError::unknown; },
      [](const CostQuestion&) -> caf::result<CostView> { return ActorError::unknown; },
      [](decisions_atom, std::uint32_t) -> caf::result<DecisionsView> {
        return ActorError::unknown;
      },
      [](figures_atom) -> caf::result<CellFigures> { return ActorError::unknown; },
      [](history_atom, std::uint32_t) -> caf::result<HistoryView> { return ActorError::unknown; },
      [](plan_atom, const Job&) -> caf::result<PlanView> { return ActorError::unknown; },
  };
}

/// The same of a site and of a cloud.
template <class... Handlers>
SiteActor::behavior_type site_without_views(Handlers... handlers) {
  return {
      std::move(handlers)...,
      [](const JobsQuestion&) -> caf::result<JobsView> { return ActorError::unknown; },
      [](figures_atom) -> caf::result<SiteFigures> { return ActorError::unknown; },
  };
}
template <class... Handlers>
CloudActor::behavior_type cloud_without_views(Handlers... handlers) {
  return {
      std::move(handlers)...,
      [](const RentedQuestion&) -> caf::result<RentedView> { return ActorError::unknown; },
      [](figures_atom) -> caf::result<CloudFigures> { return ActorError::unknown; },
  };
}

}  // namespace muster

#pragma once

#include "model/plan.hpp"
#include "schedulers/lrasched/service_round.hpp"

namespace muster::lrasched {

/// The choice as a plan. A service that has no place yet is a group of the plan with all that is
/// rented for it, and one with others that share that: it is carried out whole or not at all.
/// Replicas that get no place are told why, where that is news to them.
Plan plan_of_services(const ServiceParts& parts, const ServiceInput& input,
                      const ServiceChoice& choice);

/// Price of an hour of the instance that such a plan rents.
Price price_of(const ClusterView& view, const Launch& launch);

}  // namespace muster::lrasched

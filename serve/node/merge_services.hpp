#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/service_views.hpp"

namespace muster::merge {

/// The services of all masters, by user and name.
ServicesView services(std::vector<ServicesView> masters);

/// The ready replicas of a service; nothing: no service is there. Of several users' services of one
/// name the oldest counts: a question may name its user.
std::optional<EndpointsView> endpoints(const ServicesView& services);

}  // namespace muster::merge

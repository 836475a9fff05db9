#pragma once

#include <string>

#include "model/service_views.hpp"

// Services as people read them.

namespace muster::client {

/// A table with a line a service.
std::string view(const ServicesView& services);
/// Each of them with a line a replica.
std::string replicas_text(const ServicesView& services);
/// A line a port of each endpoint: the port's name, and ADDRESS:NUMBER.
std::string view(const EndpointsView& endpoints);

}  // namespace muster::client

#pragma once

#include "masters/master.hpp"
#include "model/views.hpp"

namespace muster {

/// The master's services that are not over, by their jobs' numbers, as many as go into one message.
ServicesView services_of(const Master& master, const ServicesQuestion& wanted);

}  // namespace muster

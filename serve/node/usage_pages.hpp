#pragma once

#include "serve/node/found_job.hpp"

namespace muster {

/// A page of the running tasks and what they take. A page is of one master, and the next one of
/// that master or of the one behind it: so no master is asked for more than a page holds.
void look_at_usage(const JobPlaces& places, const api::View& what, api::Reply reply);

}  // namespace muster

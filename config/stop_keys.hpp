#pragma once

#include <vector>

#include "config/request_keys.hpp"

// Keys of a job request for ends: the meaning of exit code 0 after a stop, failures that are worth
// another attempt, and the signal before the time limit.

namespace muster::config {

/// Its keys, in the order of the documentation.
std::vector<RequestKey> stop_keys();

/// Reports what of it does not go together with the rest of the request.
void check_stops(const JobRequest& request, const Report& report);

/// Puts what a checked request says of it into the job.
void make_stops(const JobRequest& request, Job& job);

/// The other way round.
void ask_stops(const Job& job, JobRequest& request);

}  // namespace muster::config

#pragma once

#include <vector>

#include "config/request_keys.hpp"

// Keys of a job request for a script that is sent with it, and for a work folder that is to be
// made.

namespace muster::config {

/// Its keys, in the order of the documentation.
std::vector<RequestKey> script_keys();

/// Puts what a checked request says of it, and of its work folder, into the job.
void make_script(const JobRequest& request, Job& job);

/// The other way round.
void ask_script(const Job& job, JobRequest& request);

}  // namespace muster::config

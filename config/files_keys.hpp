#pragma once

#include <vector>

#include "config/request_keys.hpp"

// Keys of a job request for the files that its tasks begin with and those that they leave.

namespace muster::config {

/// Its keys, in the order of the documentation.
std::vector<RequestKey> files_keys();

/// Reports what does not go with them.
void check_files(const JobRequest& request, const Report& report);

/// Puts what a checked request says of it into the job.
void make_files(const JobRequest& request, Job& job);

/// The other way round.
void ask_files(const Job& job, JobRequest& request);

}  // namespace muster::config

#pragma once

#include <vector>

#include "config/job_request.hpp"
#include "config/request_keys.hpp"
#include "model/job.hpp"

// The keys of a request that say who is told of the job's end.

namespace muster::config {

/// The keys, in a list as those of others.
std::vector<RequestKey> notify_request_keys();

/// Reports keys that do not go together with them.
void check_notify(const JobRequest& request, const Report& report);

/// Their part of make_job() and of request_of().
void make_notify(const JobRequest& request, Job& job);
void ask_notify(const Job& job, JobRequest& request);

}  // namespace muster::config

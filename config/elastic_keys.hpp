#pragma once

#include <vector>

#include "config/request_keys.hpp"

// Keys of a job request for an elastic job: the bounds of its workers, its amount of work, and its
// known speed.

namespace muster::config {

/// Its keys, in the order of the documentation.
std::vector<RequestKey> elastic_keys();

/// Reports what of it does not go together, or with the rest of the request.
void check_elastic(const JobRequest& request, bool tasks_given, const Report& report);

/// Makes the job, which has one task like the others are to be, the elastic one that a checked
/// request asks for.
void make_elastic(const JobRequest& request, Job& job);

/// The other way round: asks for what the job, if it is elastic, was made from.
void ask_elastic(const Job& job, JobRequest& request);

}  // namespace muster::config

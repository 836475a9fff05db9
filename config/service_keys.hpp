#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/request_keys.hpp"

// The table [service] of a job request: the ports, the checks and the replicas of a service.

namespace muster::config {

/// Replicas to which a service of that number may be scaled, where its file does not say.
std::uint32_t default_most_replicas(std::uint32_t replicas);

/// Its key, whose value is a table.
std::vector<RequestKey> service_keys();

/// Reports what of it does not go with the rest of the request.
void check_service(const JobRequest& request, bool tasks_given, const Report& report);

/// Makes the job, which has one task like the others are to be, the service that a checked request
/// asks for.
void make_service(const JobRequest& request, Job& job);

/// The other way round: asks for what the job, if it is a service, was made from.
void ask_service(const Job& job, JobRequest& request);

}  // namespace muster::config

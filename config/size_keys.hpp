#pragma once

#include <nlohmann/json_fwd.hpp>

#include "config/job_request.hpp"
#include "config/request_value.hpp"
#include "config/service_table.hpp"

// The table `size` of the table [service]: how small a policy may make replicas.

namespace muster::config {

/// Faults are kept with the service.
void read_size(const RequestValue& value, RequestService& service);

/// Says which members do not go together, or with the rest of the request.
void check_size(const JobRequest& request, const SayFault& say);

/// A bound that is not given is the size that the request asks for.
SizeRange size_range_of(const JobRequest& request);

/// The bounds of the job's service as a request says them: without those that are what it asks for.
SizeRange asked_range(const SizeRange& size, double cpus, double memory_gib);

/// As they are read.
void write_size(nlohmann::ordered_json& out, const RequestService& service);

}  // namespace muster::config

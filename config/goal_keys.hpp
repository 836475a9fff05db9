#pragma once

#include <nlohmann/json_fwd.hpp>

#include "config/job_request.hpp"
#include "config/request_value.hpp"
#include "config/service_table.hpp"

// The tables `goal` and `scale` of the table [service]: a number that its replicas have, the bound
// that it is to keep to, and between how many replicas it may choose.

namespace muster::config {

/// Faults are kept with the service.
void read_goal(const RequestValue& value, RequestService& service);
void read_scale(const RequestValue& value, RequestService& service);

/// Says which members do not go together, or with the rest of the service.
void check_goal(const RequestService& service, const SayFault& say);

/// As they are read.
void write_goal(nlohmann::ordered_json& out, const RequestService& service);

}  // namespace muster::config

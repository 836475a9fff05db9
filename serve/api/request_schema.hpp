#pragma once

#include <nlohmann/json.hpp>

namespace muster::api {

/// The schema of a job request, as the table of its keys has it.
nlohmann::ordered_json request_schema();

}  // namespace muster::api

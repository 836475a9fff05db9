#pragma once

#include <string>

namespace muster::api {

/// The OpenAPI 3.0 document of the API: its paths from the route table, the shape of a job
/// request from its keys, those of views from their fields and the others from schemas.json.
std::string openapi_document();

}  // namespace muster::api

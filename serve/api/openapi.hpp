#pragma once

#include <string>

namespace muster::api {

/// The OpenAPI 3.0 document of the API: its paths from the route table, its shapes from
/// schemas.json.
std::string openapi_document();

}  // namespace muster::api

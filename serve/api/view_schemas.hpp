#pragma once

#include <nlohmann/json.hpp>

namespace muster::api {

/// The shapes of the API's documents, by name: those of views follow from their `fields`, the
/// others stand in schemas.json. What that file says of a view is added to its shape: a bound, or
/// words.
nlohmann::ordered_json document_schemas();

}  // namespace muster::api

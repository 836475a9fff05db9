#pragma once

#include <nlohmann/json.hpp>

namespace muster::api {

/// The shapes of the API's documents, by name: those of views follow from their `fields`, the
/// others stand in schemas.json. The file's additions to a view are merged into its shape: a bound,
/// or words.
nlohmann::ordered_json document_schemas();

}  // namespace muster::api

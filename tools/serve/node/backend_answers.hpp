#pragma once

#include <caf/all.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/serve/api/backend.hpp"

// Answers of the API as an ActorBackend makes them.

namespace muster::backend {

/// The document as text; bytes that are not UTF-8 are replaced.
std::string dump(const nlohmann::json& document);

/// 200 and the document.
api::Answer ok(const nlohmann::json& document);

/// The same of a document that says whether everybody has answered who has a part of what it shows,
/// and who has not.
api::Answer ok_but_for(nlohmann::json document, nlohmann::json silent);

/// What an actor's refusal to answer comes to for a client, who has asked for `what`.
api::Answer from_error(const caf::error& error, const caf::actor_system& system,
                       const std::string& what);

}  // namespace muster::backend

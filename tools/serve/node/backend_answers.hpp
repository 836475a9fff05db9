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

/// What an actor's refusal to answer comes to for a client, who has asked for `what`.
api::Answer from_error(const caf::error& error, const caf::actor_system& system,
                       const std::string& what);

}  // namespace muster::backend

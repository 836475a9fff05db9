#pragma once

#include <caf/all.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "serve/api/backend.hpp"

// Answers of the API as an ActorBackend makes them.

namespace muster::backend {

/// 200 and the document.
api::Answer ok(std::string document);
/// {NAME: NUMBER}, likewise.
api::Answer ok(std::string_view name, std::uint64_t number);

/// 503: no master has answered; `too_large`: because no message could carry an answer.
api::Answer none_answers(bool too_large);

/// Answer to a client who has asked for `what`, by an actor's refusal.
api::Answer from_error(const caf::error& error, const caf::actor_system& system,
                       const std::string& what);

}  // namespace muster::backend

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace muster::api {

/// Attempts of a task, as an answer has them.
nlohmann::ordered_json attempt_documents();
/// The life of an instance.
nlohmann::ordered_json life_document(std::uint64_t id);
/// Decisions of the masters.
nlohmann::ordered_json decision_documents(std::uint64_t tick);

}  // namespace muster::api

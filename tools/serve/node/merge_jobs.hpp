#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/serve/node/merge.hpp"

// A job may have parts with several masters; to the API's users it is one.

namespace muster::merge {

/// The jobs of all documents' lists "jobs", the newest first, at most `limit`. `over_only`: those
/// of which no part is missing, for the others run on.
nlohmann::json jobs(const Documents& parts, std::uint32_t limit, bool over_only);

/// One job of what the masters answered about it, details ("tasks" beside the job's own members)
/// or explained ("job" and "tasks"); nothing when none has it.
std::optional<nlohmann::json> job(const Documents& parts);

}  // namespace muster::merge

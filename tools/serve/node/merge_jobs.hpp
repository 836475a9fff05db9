#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/serve/node/merge.hpp"

// A job may have parts with several masters; to the API's users it is one.

namespace muster::merge {

/// The jobs of all documents' lists "jobs", the newest first, at most `limit`. `over_only`: those
/// of which no part is missing, for the others run on. `complete`: everybody has answered, so that
/// a part that is missing has finished; else nothing is known of it.
nlohmann::json jobs(const Documents& parts, std::uint32_t limit, bool over_only,
                    bool complete = true);

/// Leaves out of what sites say of jobs on their way what another has by now, who was asked later:
/// a master that lists it, or, of a job left to another site, anybody.
void drop_arrived(Documents& sites, const Documents& masters);

/// The jobs that sites list, as masters answer for one of them.
Documents as_details(const Documents& sites, bool explained);

/// One job of what the masters answered about it, details ("tasks" beside the job's own members)
/// or explained ("job" and "tasks"); nothing when none has it. `complete` as above.
std::optional<nlohmann::json> job(const Documents& parts, bool complete = true);

/// Whether the parts of one job, details or explained, are all of it.
bool is_whole(const Documents& parts);

}  // namespace muster::merge

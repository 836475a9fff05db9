#pragma once

#include <optional>
#include <string>

#include "actors/messages/messages.hpp"
#include "model/job.hpp"

namespace muster {

/// Why a job cannot begin any more whose condition on the other one is that; nothing: it may, as
/// far as that one goes.
std::optional<std::string> why_not(const AfterJob& wanted, const JobEnd& end);

/// One of the jobs that another waits for, like "job 12 to complete".
std::string shown_after(const AfterJob& after);

}  // namespace muster

#pragma once

#include <string>

#include "model/job.hpp"

namespace muster::cell {

/// The counterparts that a task of the job waits for, like ": the task with its index of job 12 to
/// complete". It names no index, so that tasks which wait likewise are told of together.
std::string counterparts_text(const Job& job);

}  // namespace muster::cell

#pragma once

#include <string>

#include "model/job.hpp"

namespace muster::cell {

/// The counterparts that the task waits for, like ": task 3 of job 12 to complete".
std::string counterparts_text(const Job& job, const TaskSpec& task);

}  // namespace muster::cell

#pragma once

#include <span>
#include <string>

#include "tools/replay/run_result.hpp"

namespace muster::report {

/// The summary for a terminal: a head of two lines (figure, unit), then one row a policy.
/// Columns that are empty for all policies are left out. A table that is wider than 180 characters
/// goes on below, with the policies repeated.
std::string summary_table(std::span<const replay::RunResult> runs);

}  // namespace muster::report

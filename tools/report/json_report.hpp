#pragma once

#include <span>
#include <string>

#include "tools/metrics/run_result.hpp"

namespace muster::report {

/// {"runs": [...]}: one object a run with every figure by name; null where a figure has no meaning
/// for the policy. Ends with a line end.
std::string json_report(std::span<const metrics::RunResult> runs);

}  // namespace muster::report

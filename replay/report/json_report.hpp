#pragma once

#include <span>
#include <string>

#include "replay/metrics/run_result.hpp"

namespace muster::report {

/// {"runs": [...]}: one object a run with every metric by its key (docs/metrics.md), null where it
/// has no meaning for the policy; then what the notes of the policy's rounds came to. Ends with a
/// line end.
std::string json_report(std::span<const metrics::RunResult> runs);

}  // namespace muster::report

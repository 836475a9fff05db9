#pragma once

#include <span>
#include <string>

#include "replay/metrics/run_result.hpp"

namespace muster::report {

/// A page that needs nothing but itself: the summary, and plots of cost and instances over time,
/// allocation, JCT, uptime of instances, and what the money went to. Plots over time show the first
/// run of each policy, distributions all its runs. Texts from outside cannot break out of it.
std::string html_report(const std::string& title, std::span<const metrics::RunResult> runs);

}  // namespace muster::report

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "replay/metrics/run_result.hpp"
#include "replay/report/summary.hpp"

namespace muster::report {

/// Width of a table where the width of the output is not known.
inline constexpr std::size_t kTableWidth = 200;

/// The summary for a terminal: a head of two lines (figure, unit), then one row a policy.
/// Columns that are empty for all policies are left out. A table that is wider than `max_width`
/// characters goes on below, with the policies repeated; where these take more than a third of the
/// width each is two lines, its name and its figures.
std::string summary_table(std::span<const metrics::RunResult> runs,
                          std::size_t max_width = kTableWidth);

/// Likewise, for any figures; the first column is repeated.
std::string table_text(const Summary& summary, std::size_t max_width = kTableWidth);

}  // namespace muster::report

#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/metrics/run_result.hpp"

namespace muster::report {

/// One column of the summary: its figure, and the unit.
struct SummaryColumn {
  std::string name;
  std::string unit;
};

/// The figures of several runs as text: one row a policy, in the order of their first runs.
struct Summary {
  std::vector<SummaryColumn> columns;  ///< the first one holds the policies
  std::vector<std::vector<std::string>> rows;
};

/// Where a policy has several runs, a cell is their mean and sample standard deviation,
/// "12.30 ± 0.45". A figure that has no meaning for the policy is "-".
Summary summarize(std::span<const metrics::RunResult> runs);

/// Whether the figure in this column has a meaning for at least one row: tables leave others out.
bool says_something(const Summary& summary, std::size_t column);

/// "POLICY: the solver failed in 3 of 8 rounds", a line a run in which it did by the notes of its
/// rounds: such a round is decided without it, and its row looks like any other.
std::vector<std::string> solver_failures(std::span<const metrics::RunResult> runs);

/// A number with commas between thousands, as amounts of money are read.
std::string grouped(double value, int decimals);

/// The runs of each policy, policies in the order of their first runs.
std::vector<std::vector<const metrics::RunResult*>> by_policy(
    std::span<const metrics::RunResult> runs);

}  // namespace muster::report

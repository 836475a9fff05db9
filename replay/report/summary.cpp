#include "replay/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "replay/metrics/metric_table.hpp"
#include "schedulers/ilp/ilp_params.hpp"

// The table of runs: a row a policy, a column a metric. Several seeds of one policy become mean and
// spread.

namespace muster::report {
namespace {

using metrics::Metric;
using metrics::RunResult;
using Runs = std::vector<const RunResult*>;

/// The metrics that have a column for these runs, from left to right.
std::vector<Metric> columns_for(std::span<const RunResult> runs) {
  std::vector<Metric> columns = metrics::metric_table();
  const std::vector<Metric> noted = metrics::note_metrics(runs);
  columns.insert(columns.end(), noted.begin(), noted.end());
  std::erase_if(columns, [&](const Metric& metric) {
    return !metric.column || !metrics::is_shown(*metric.column, runs);
  });
  // Stable: within a place the order of the metric table stays.
  std::stable_sort(columns.begin(), columns.end(), [](const Metric& a, const Metric& b) {
    return a.column->place < b.column->place;
  });
  return columns;
}

std::vector<double> values_of(const Metric& metric, const Runs& runs) {
  std::vector<double> values;
  for (const RunResult* run : runs) {
    if (const auto value = metric.of(*run)) values.push_back(*value);
  }
  return values;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Mean and sample standard deviation.
std::string spread(std::vector<double> values, const metrics::Column& column) {
  for (double& value : values) value *= column.factor;
  const auto n = static_cast<double>(values.size());
  const double mean = sum_of(values) / n;
  if (values.size() == 1) return grouped(mean, column.decimals);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return grouped(mean, column.decimals) + " ± " +
         // n - 1: runs are a sample of all seeds. One run has no spread and has returned above.
         grouped(std::sqrt(squares / (n - 1)), column.decimals);
}

std::string cell(const Metric& metric, const Runs& runs) {
  const std::vector<double> values = values_of(metric, runs);
  if (values.empty()) return "-";
  const Metric* whole = metrics::find_metric(metrics::metric_table(), metric.column->out_of);
  if (whole == nullptr) return spread(values, *metric.column);
  // Counts of jobs are summed over the seeds, not averaged: "done of submitted" stays whole.
  return fmt::format("{:.0f}/{:.0f}", sum_of(values), sum_of(values_of(*whole, runs)));
}

}  // namespace

std::string grouped(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t begin = text.starts_with('-') ? 1 : 0;
  std::size_t end = std::min(text.find('.'), text.size());
  while (end > begin + 3) text.insert(end -= 3, 1, ',');
  return text;
}

bool says_something(const Summary& summary, std::size_t column) {
  return summary.rows.empty() ||
         std::any_of(summary.rows.begin(), summary.rows.end(),
                     [&](const std::vector<std::string>& row) { return row[column] != "-"; });
}

std::vector<Runs> by_policy(std::span<const RunResult> runs) {
  std::vector<Runs> groups;
  for (const RunResult& run : runs) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.front()->policy == run.policy;
    });
    if (same == groups.end()) {
      groups.push_back({&run});
    } else {
      same->push_back(&run);
    }
  }
  return groups;
}

std::vector<std::string> solver_failures(std::span<const RunResult> runs) {
  std::vector<std::string> lines;
  for (const RunResult& run : runs) {
    std::uint64_t failed = 0, all = 0;
    for (const auto& [choice, rounds] : run.notes.rounds_by_choice) {
      all += rounds;
      if (choice.find(ilp::kSolverFailed) != std::string::npos) failed += rounds;
    }
    if (failed == 0) continue;
    lines.push_back(fmt::format("{}, seed {}: {} in {} of {} rounds, which were decided without it",
                                run.policy, run.seed, ilp::kSolverFailed,
                                grouped(static_cast<double>(failed), 0),
                                grouped(static_cast<double>(all), 0)));
  }
  return lines;
}

Summary summarize(std::span<const RunResult> runs) {
  const std::vector<Metric> columns = columns_for(runs);
  Summary summary{{{"policy", ""}}, {}};
  for (const Metric& metric : columns) {
    summary.columns.push_back({metric.column->name, metric.column->unit});
  }
  for (const Runs& group : by_policy(runs)) {
    std::vector<std::string>& row = summary.rows.emplace_back();
    row.push_back(group.front()->policy);
    for (const Metric& metric : columns) row.push_back(cell(metric, group));
  }
  return summary;
}

}  // namespace muster::report

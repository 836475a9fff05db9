#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replay/metrics/metric_table.hpp"
#include "tools/experiment/plan.hpp"
#include "tools/experiment/statistics.hpp"

namespace muster::experiment {

/// Result of a run, as `muster replay --json` writes it.
using RunJson = nlohmann::ordered_json;

/// A figure that runs have: a metric, a share of the cost, or a figure of the policy's own notes.
struct Figure {
  std::string key;
  std::string unit;
  metrics::Better better = metrics::Better::neither;
  bool timed = false;  ///< by a clock of the machine
  std::optional<metrics::Column> column;
  std::string how{};  ///< how it is computed, in one sentence; empty: it was not said
};

/// The run's value; absent where it has no meaning for the run.
std::optional<double> value_in(const RunJson& run, const Figure& figure);

/// A figure over the seeds of a point.
struct Finding {
  Statistics own;
  std::optional<Statistics> difference;  ///< to the baseline's run of the same seed
  std::optional<Statistics> ratio;       ///< likewise, where no baseline is 0 or less
};

/// Results of the runs of one point.
struct PointFindings {
  std::vector<std::size_t> done;  ///< those of the plan's runs that have a result
  std::size_t wanted = 0;         ///< runs, with those that have no result
  /// More than one seed, and all gave equal results: the seed decides nothing there, and a spread
  /// of 0 would be no measurement.
  bool seedless = false;
  std::vector<std::optional<Finding>> findings;  ///< one a figure
};

/// Results of an experiment: points as in the plan.
struct Findings {
  std::vector<Figure> figures;  ///< that any run has, in the order of the table of metrics
  std::vector<PointFindings> points;
};

/// Puts runs together; `runs` has one a run of the plan, empty where it is missing.
Findings find(const Plan& plan, const std::vector<std::optional<RunJson>>& runs);

/// Position of the figure of that key; nothing if no run has it.
std::optional<std::size_t> position_of(const Findings& findings, const std::string& key);

}  // namespace muster::experiment

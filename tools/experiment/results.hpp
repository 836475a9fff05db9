#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/findings.hpp"
#include "tools/experiment/run_record.hpp"

namespace muster::experiment {

/// An experiment with what came of it, as the reports show it.
struct Results {
  Experiment experiment;
  Plan plan;
  std::vector<std::string> keys;                               ///< one a planned
  std::vector<std::optional<nlohmann::ordered_json>> records;  ///< likewise; none: not there
  Findings findings;
  Provenance provenance;
};

/// The metrics of the experiment as tables for a terminal, one a grid: mean, 95% interval, standard
/// deviation, least and most over the seeds, and the paired difference to the baseline with its
/// interval. Notes on the figures are in lines below.
std::string results_text(const Results& results, std::size_t max_width);

/// A row a run: its config, and all its figures with their units in the head. A figure that has no
/// meaning for the run is empty.
std::string runs_csv(const Results& results);

/// A row a point and figure: the statistics and the differences.
std::string summary_csv(const Results& results);

/// Everything: points with statistics, and each run with its command and figures.
std::string results_json(const Results& results);

/// A page that needs nothing but itself: the tables, and a plot of any figure over policies or over
/// any axis, with error bars.
std::string results_html(const Results& results);

}  // namespace muster::experiment

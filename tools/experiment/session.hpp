#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/experiment/result_folder.hpp"
#include "tools/experiment/results.hpp"
#include "tools/experiment/run_children.hpp"
#include "tools/experiment/run_key.hpp"

namespace muster::experiment {

/// A run that gave no result, and what its process said of that.
struct FailedRun {
  std::size_t run = 0;
  std::string reason;
};

/// Outcome of doing the runs.
struct Outcome {
  bool interrupted = false;
  std::string fault;  ///< why it was given up; empty: it was not
  std::vector<FailedRun> failed;
};

/// Inputs of doing the runs besides the plan.
struct SessionSetup {
  std::filesystem::path program;  ///< that understands `replay`
  std::size_t at_once = 1;
  std::function<bool(Duration)> pause;  ///< as in ChildrenSetup
  std::function<Duration()> elapsed;
  /// Told of every run that is over: how many of how many are, which, and what went wrong.
  std::function<void(std::size_t, std::size_t, const PlannedRun&, const std::string&)> told;
};

/// One key a run, all checked first. The message of an error has a line for each fault, with the
/// place of its grid and its policy.
Expected<std::vector<std::string>, ExperimentError> keys_of(const Experiment& experiment,
                                                            const Plan& plan, RunKeys& keys);

/// Reads the kept records; one a run, empty where it is missing or damaged.
std::vector<std::optional<nlohmann::ordered_json>> read_records(
    const std::filesystem::path& folder, const std::vector<std::string>& keys);

/// Does the runs that have no record, each key once, and keeps what they give.
Outcome do_missing(const Results& results, const ResultFolder& folder, const SessionSetup& setup);

/// Writes results.csv, summary.csv, results.json and report.html. The name of the file that could
/// not be written; empty when all were.
std::string write_results(const Results& results, const std::filesystem::path& folder);

}  // namespace muster::experiment

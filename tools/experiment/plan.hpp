#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/experiment/experiment_file.hpp"

namespace muster::experiment {

/// How many runs an experiment may have.
inline constexpr std::size_t kMostRuns = 100'000;

/// The value of an axis.
struct Label {
  std::string axis;
  std::string value;
  bool operator==(const Label&) const = default;
};

/// One place in a grid, whose runs differ by their seeds alone.
struct Point {
  std::size_t grid = 0;
  std::vector<Label> labels;  ///< of the axes with more than one value, without policy and seed
  std::string policy;
  std::string family;                   ///< the policy as the file has it, with its {names}
  std::optional<std::size_t> baseline;  ///< the point that this one is compared with
};

/// One run: everything that `muster replay` is told.
struct PlannedRun {
  std::size_t point = 0;
  std::uint64_t seed = 1;
  std::filesystem::path config;
  std::string policy;
  std::vector<std::string> overrides;  ///< "dotted.key=value"
};

/// An experiment laid out: points in the order of the file, and the runs of all of them.
struct Plan {
  std::vector<Point> points;
  std::vector<PlannedRun> runs;
};

/// Options of a call that are added to the file.
struct PlanLimits {
  std::vector<std::string> overrides;            ///< for all runs, stronger than those of the file
  std::optional<std::set<std::uint64_t>> seeds;  ///< only these of each grid's; none: all
};

/// Every combination of each grid but those that it skips. The message of an error names the grid's
/// place and what would be right.
Expected<Plan, ExperimentError> lay_out(const Experiment& experiment, const PlanLimits& limits);

/// "variant=spot, t=0.5"
std::string to_text(const std::vector<Label>& labels);

/// "GRID: eva [variant=spot], seed 3": one run, for messages.
std::string name_of(const Experiment& experiment, const Plan& plan, const PlannedRun& planned);

/// The words of `muster replay` for the run, without the program's name; a path and quotes as a
/// shell would leave them.
std::vector<std::string> replay_arguments(const PlannedRun& planned);

}  // namespace muster::experiment

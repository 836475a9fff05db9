#include "tools/experiment/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

// From a plan to its results. The records on the disk are the only memory: a second call, or one
// after a crash, reads them and does the rest.

namespace muster::experiment {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file, std::size_t most) {
  std::error_code bad;
  const std::uintmax_t size = fs::file_size(file, bad);
  if (bad) return {};
  std::ifstream in(file, std::ios::binary);
  std::string text(std::min<std::uintmax_t>(size, most), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

/// The reports of runs with many jobs are large; no report is larger than this.
constexpr std::size_t kMostReport = std::size_t{1} << 28;
constexpr std::size_t kMostReason = 2000;

/// Error text of a run without a result, or how it ended when it wrote no text.
std::string reason_of(const ChildEnd& end, const fs::path& err) {
  std::string said = content_of(err, kMostReason);
  while (said.ends_with('\n')) said.pop_back();
  if (!said.empty()) return said;
  if (end.signal != 0) return fmt::format("was killed by signal {}", end.signal);
  if (end.exit_code < 0) return "could not be started";
  return fmt::format("ended with status {} and no report", end.exit_code);
}

/// Does the runs of one call.
class Work {
 public:
  Work(const Results& results, const ResultFolder& folder, const SessionSetup& setup)
      : results_(results), folder_(folder), setup_(setup) {}

  Outcome all() {
    std::set<std::string> begun;
    for (std::size_t i = 0; i < results_.plan.runs.size(); ++i) {
      if (results_.records[i] || !begun.insert(results_.keys[i]).second) continue;
      const std::string& key = results_.keys[i];
      children_.push_back({replay_arguments(results_.plan.runs[i]), folder_.begun(key, ".json"),
                           folder_.begun(key, ".err")});
      planned_.push_back(i);
    }
    const ChildrenSetup children{.program = setup_.program,
                                 .at_once = setup_.at_once,
                                 .pause = setup_.pause,
                                 .elapsed = setup_.elapsed,
                                 .ended = [this](const ChildEnd& end) { return take(end); }};
    const bool all_over = run_children(children_, children);
    outcome_.interrupted = !all_over && outcome_.fault.empty();
    return std::move(outcome_);
  }

 private:
  /// Keeps what a run gave; false when that is not possible.
  bool take(const ChildEnd& end) {
    const Child& child = children_[end.child];
    const std::size_t run = planned_[end.child];
    const std::string& key = results_.keys[run];
    const auto record = record_of(
        content_of(child.out, kMostReport),
        {.key = key, .run = results_.plan.runs[run], .took = end.took, .at_once = setup_.at_once},
        results_.provenance);
    std::string reason;
    // A replay in which not all jobs completed ends with 1 and a whole report: a result like any.
    const bool is_result = record && (end.exit_code == 0 || end.exit_code == 1);
    if (!is_result) {
      reason = reason_of(end, child.err);
      outcome_.failed.push_back({run, reason});
    } else if (!folder_.keep(key, *record)) {
      outcome_.fault =
          fmt::format("cannot write to {}: is the disk full?", folder_.path().string());
      return false;
    }
    std::error_code ignored;
    fs::remove(child.out, ignored);
    fs::remove(child.err, ignored);
    setup_.told(++over_, children_.size(), results_.plan.runs[run], reason);
    return true;
  }

  const Results& results_;
  const ResultFolder& folder_;
  const SessionSetup& setup_;
  std::vector<Child> children_;
  std::vector<std::size_t> planned_;  ///< of the children
  std::size_t over_ = 0;
  Outcome outcome_;
};

}  // namespace

Expected<std::vector<std::string>, ExperimentError> keys_of(const Experiment& experiment,
                                                            const Plan& plan, RunKeys& keys) {
  std::vector<std::string> all;
  std::set<std::string> faults;
  ErrorList errors;
  for (const PlannedRun& run : plan.runs) {
    auto key = keys.key_of(run);
    if (key) {
      all.push_back(std::move(key).value());
      continue;
    }
    const Grid& grid = experiment.grids[plan.points[run.point].grid];
    // The seeds of a grid, and often all of its runs, have the same fault.
    if (!faults.insert(grid.name + key.error().message).second) continue;
    const auto names = [&fault = key.error().message](const std::string& text) {
      return !text.empty() && fault.find(text) != std::string::npos;
    };
    errors.add(place_in(grid, names), "grid '" + grid.name + "'", key.error().message);
  }
  if (errors.empty()) return all;
  return Failure<ExperimentError>{ExperimentError::invalid, errors.text(kShownErrors)};
}

std::vector<std::optional<nlohmann::ordered_json>> read_records(
    const fs::path& folder, const std::vector<std::string>& keys) {
  std::vector<std::optional<nlohmann::ordered_json>> records;
  for (const std::string& key : keys) {
    const auto text = kept_result(folder, key);
    records.push_back(text ? parse_record(*text, key) : std::nullopt);
  }
  return records;
}

Outcome do_missing(const Results& results, const ResultFolder& folder, const SessionSetup& setup) {
  return Work(results, folder, setup).all();
}

std::string write_results(const Results& results, const fs::path& folder) {
  const std::pair<const char*, std::string (*)(const Results&)> files[] = {
      {"results.csv", runs_csv},
      {"summary.csv", summary_csv},
      {"results.json", results_json},
      {"report.html", results_html}};
  for (const auto& [name, text_of] : files) {
    if (!write_durably(folder / name, text_of(results))) return (folder / name).string();
  }
  return {};
}

}  // namespace muster::experiment

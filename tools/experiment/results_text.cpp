#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "replay/report/table.hpp"
#include "tools/experiment/result_tables.hpp"

// Tables for people. Numbers have the decimals and units of the replay's own tables, so that both
// can be held against each other.

namespace muster::experiment {
namespace {

using report::Summary;

/// How a figure is shown: in the table's unit, with its decimals.
struct Shown {
  std::string name;
  std::string unit;
  double factor = 1;
  int decimals = 4;

  explicit Shown(const Figure& figure) : name(figure.key), unit(figure.unit) {
    if (!figure.column) return;
    name = figure.column->name;
    unit = figure.column->unit;
    factor = figure.column->factor;
    // The differences between runs are smaller than what tables of runs show.
    decimals = std::max(figure.column->decimals, 2);
  }
  std::string text(double value) const { return report::grouped(value * factor, decimals); }
  std::string text(const std::optional<double>& value) const { return value ? text(*value) : "-"; }
};

std::string signed_text(const Shown& shown, double value) {
  const std::string text = shown.text(value);
  return text.starts_with('-') ? text : "+" + text;
}

void add_head(const Figure& figure, Summary& summary) {
  const Shown shown(figure);
  summary.columns.push_back({shown.name, shown.unit});
  for (const char* name : {"±95%", "sd", "min", "max"}) summary.columns.push_back({name, ""});
  summary.columns.push_back({"diff.", shown.unit});
  summary.columns.push_back({"±95%", ""});
  summary.columns.push_back({"ratio", "%"});
  summary.columns.push_back({"±95%", ""});
}

void add_cells(const Figure& figure, const std::optional<Finding>& finding,
               std::vector<std::string>& row) {
  const Shown shown(figure);
  constexpr std::size_t kCells = 9;
  if (!finding) {
    row.insert(row.end(), kCells, "-");
    return;
  }
  const Statistics& own = finding->own;
  // One value has neither spread nor extremes.
  const bool spread = own.deviation.has_value();
  row.insert(row.end(),
             {shown.text(own.mean), shown.text(own.half_width), shown.text(own.deviation),
              spread ? shown.text(own.min) : "-", spread ? shown.text(own.max) : "-"});
  const auto& difference = finding->difference;
  row.push_back(difference ? signed_text(shown, difference->mean) : "-");
  row.push_back(difference ? shown.text(difference->half_width) : "-");
  const auto& ratio = finding->ratio;
  row.push_back(ratio ? report::grouped(100 * ratio->mean, 2) : "-");
  row.push_back(ratio && ratio->half_width ? report::grouped(100 * *ratio->half_width, 2) : "-");
}

std::string runs_text(const PointFindings& point) {
  const std::string count = point.done.size() == point.wanted
                                ? std::to_string(point.wanted)
                                : fmt::format("{}/{}", point.done.size(), point.wanted);
  return count + (point.seedless ? " same" : "");
}

std::string point_text(const Point& point) {
  const std::string labels = to_text(point.labels);
  return point.policy + (labels.empty() ? "" : " [" + labels + "]");
}

}  // namespace

Summary table_of_grid(const Results& results, std::size_t grid) {
  Summary summary{{{"policy", ""}, {"runs", ""}}, {}};
  const Findings& found = results.findings;
  std::vector<std::size_t> shown;
  for (const std::string& key : results.experiment.metrics) {
    const auto position = position_of(found, key);
    if (!position) continue;
    shown.push_back(*position);
    add_head(found.figures[*position], summary);
  }
  for (std::size_t i = 0; i < results.plan.points.size(); ++i) {
    if (results.plan.points[i].grid != grid) continue;
    std::vector<std::string>& row = summary.rows.emplace_back();
    row = {point_text(results.plan.points[i]), runs_text(found.points[i])};
    for (const std::size_t figure : shown) {
      add_cells(found.figures[figure], found.points[i].findings[figure], row);
    }
  }
  return summary;
}

namespace {

/// The record's text on rows that are no jobs; empty when it has no such text.
std::string left_out_text(const nlohmann::ordered_json& run) {
  const auto rows = run.find("rows_left_out");
  std::string text;
  if (rows == run.end() || !rows->is_object()) return text;
  for (const auto& [reason, count] : rows->items()) {
    if (!count.is_number_unsigned()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.get<std::uint64_t>(), reason);
  }
  return text;
}

}  // namespace

std::vector<std::string> notes_of(const Results& results) {
  std::vector<std::string> notes;
  const auto& points = results.findings.points;
  const auto is_seedless = [](const PointFindings& point) { return point.seedless; };
  if (std::any_of(points.begin(), points.end(), is_seedless)) {
    notes.emplace_back(
        "same: every seed gave the same run, as chance has no part in it; there is no spread to "
        "measure.");
  }
  std::size_t missing = 0;
  for (const PointFindings& point : points) missing += point.wanted - point.done.size();
  if (missing > 0) notes.push_back(fmt::format("Runs without a result: {}.", missing));
  std::size_t incomplete = 0;
  for (const auto& record : results.records) {
    incomplete += record && record->at("run").value("jobs_not_completed", 0) > 0 ? 1 : 0;
  }
  if (incomplete > 0) {
    notes.push_back(fmt::format("Runs in which not all jobs completed: {}.", incomplete));
  }
  // Runs of one workload leave out the same rows: each such text once.
  std::map<std::string, std::size_t> left_out;
  for (const auto& record : results.records) {
    const std::string text = record ? left_out_text(record->at("run")) : std::string();
    if (!text.empty()) ++left_out[text];
  }
  constexpr std::size_t kShown = 5;
  for (const auto& [text, runs] : left_out) {
    notes.push_back(fmt::format("Rows of the workload that are no jobs, in {} run{}: {}.", runs,
                                runs == 1 ? "" : "s", text));
    if (notes.size() > kShown) break;
  }
  return notes;
}

std::string results_text(const Results& results, std::size_t max_width) {
  std::string text;
  const auto& grids = results.experiment.grids;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const report::Summary table = table_of_grid(results, i);
    if (table.rows.empty()) continue;
    const std::string& baseline = results.experiment.baseline;
    text += fmt::format("{} (differences to {})\n\n{}\n", grids[i].name,
                        baseline.empty() ? grids[i].policies.front() : baseline,
                        report::table_text(table, max_width));
  }
  for (const std::string& note : notes_of(results)) text += note + "\n\n";
  return text;
}

}  // namespace muster::experiment

#include <fmt/format.h>

#include <algorithm>

#include "config/numbers.hpp"
#include "tools/experiment/results.hpp"

// Results for other programs. Every number is written so that it is read back as the same one.

namespace muster::experiment {
namespace {

using Json = nlohmann::ordered_json;

/// A cell of CSV, quoted where it has to be.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string safe = "\"";
  for (const char c : text) safe += c == '"' ? std::string("\"\"") : std::string(1, c);
  return safe + "\"";
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? "," : "") + quoted(cells[i]);
  return line + "\n";
}

std::string text_of(const std::optional<double>& value) {
  return value ? number_text(*value) : "";
}

/// The names of all axes, in the order in which they come up.
std::vector<std::string> axes_of(const Plan& plan) {
  std::vector<std::string> axes;
  for (const Point& point : plan.points) {
    for (const Label& label : point.labels) {
      if (std::find(axes.begin(), axes.end(), label.axis) == axes.end()) axes.push_back(label.axis);
    }
  }
  return axes;
}

/// Grid, axes and policy of a point; empty where the grid has no such axis.
std::vector<std::string> place_of(const Results& results, const Point& point,
                                  const std::vector<std::string>& axes) {
  std::vector<std::string> cells = {results.experiment.grids[point.grid].name};
  for (const std::string& axis : axes) {
    std::string& cell = cells.emplace_back();
    for (const Label& label : point.labels) {
      if (label.axis == axis) cell = label.value;
    }
  }
  cells.push_back(point.policy);
  return cells;
}

std::vector<std::string> head_of(const std::vector<std::string>& axes) {
  std::vector<std::string> head = {"grid"};
  head.insert(head.end(), axes.begin(), axes.end());
  head.emplace_back("policy");
  return head;
}

Json json_of(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const Statistics& of) {
  return {{"runs", of.count},
          {"mean", of.mean},
          {"sd", json_of(of.deviation)},
          {"ci95", json_of(of.half_width)},
          {"min", of.min},
          {"max", of.max}};
}

Json json_of_labels(const Point& point) {
  Json labels = Json::object();
  for (const Label& label : point.labels) labels[label.axis] = label.value;
  return labels;
}

Json json_of_findings(const Results& results, std::size_t index) {
  Json all = Json::object();
  const auto& findings = results.findings.points[index].findings;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!findings[i]) continue;
    Json json = json_of(findings[i]->own);
    const auto& difference = findings[i]->difference;
    const auto& ratio = findings[i]->ratio;
    json["difference"] = difference ? json_of(*difference) : Json(nullptr);
    json["ratio"] = ratio ? json_of(*ratio) : Json(nullptr);
    all[results.findings.figures[i].key] = std::move(json);
  }
  return all;
}

Json json_of_points(const Results& results) {
  Json points = Json::array();
  for (std::size_t i = 0; i < results.plan.points.size(); ++i) {
    const Point& point = results.plan.points[i];
    const PointFindings& found = results.findings.points[i];
    points.push_back(
        {{"grid", results.experiment.grids[point.grid].name},
         {"axes", json_of_labels(point)},
         {"policy", point.policy},
         {"policy_in_file", point.family},
         {"baseline",
          point.baseline ? Json(results.plan.points[*point.baseline].policy) : Json(nullptr)},
         {"runs", found.done.size()},
         {"runs_wanted", found.wanted},
         {"same_for_all_seeds", found.seedless},
         {"metrics", json_of_findings(results, i)}});
  }
  return points;
}

Json json_of_runs(const Results& results) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < results.plan.runs.size(); ++i) {
    const PlannedRun& planned = results.plan.runs[i];
    const Point& point = results.plan.points[planned.point];
    Json json{{"grid", results.experiment.grids[point.grid].name},
              {"axes", json_of_labels(point)},
              {"policy", planned.policy},
              {"seed", planned.seed},
              {"key", results.keys[i]}};
    json["record"] = results.records[i] ? *results.records[i] : Json(nullptr);
    runs.push_back(std::move(json));
  }
  return runs;
}

Json json_of_figures(const Findings& findings) {
  Json figures = Json::array();
  for (const Figure& figure : findings.figures) {
    figures.push_back({{"key", figure.key},
                       {"unit", figure.unit},
                       {"better", muster::name_of(figure.better)},
                       {"timed", figure.timed}});
  }
  return figures;
}

}  // namespace

std::string runs_csv(const Results& results) {
  const std::vector<std::string> axes = axes_of(results.plan);
  std::vector<std::string> head = head_of(axes);
  head.insert(head.end(), {"seed", "key", "config", "set"});
  for (const Figure& figure : results.findings.figures) {
    head.push_back(fmt::format("{} [{}]", figure.key, figure.unit));
  }
  head.emplace_back("event_log_sha256");
  std::string text = line_of(head);
  for (std::size_t i = 0; i < results.plan.runs.size(); ++i) {
    if (!results.records[i]) continue;
    const PlannedRun& planned = results.plan.runs[i];
    const RunJson& run = results.records[i]->at("run");
    std::vector<std::string> row = place_of(results, results.plan.points[planned.point], axes);
    row.insert(row.end(), {std::to_string(planned.seed), results.keys[i], planned.config.string()});
    row.push_back(fmt::format("{}", fmt::join(planned.overrides, "; ")));
    for (const Figure& figure : results.findings.figures) {
      row.push_back(text_of(value_in(run, figure)));
    }
    row.push_back(run.value("event_log_sha256", ""));
    text += line_of(row);
  }
  return text;
}

std::string summary_csv(const Results& results) {
  const std::vector<std::string> axes = axes_of(results.plan);
  std::vector<std::string> head = head_of(axes);
  head.insert(head.end(), {"metric", "unit", "better", "runs", "same_for_all_seeds", "mean", "sd",
                           "ci95", "min", "max", "baseline", "paired_runs", "difference",
                           "difference_ci95", "ratio", "ratio_ci95"});
  std::string text = line_of(head);
  for (std::size_t i = 0; i < results.plan.points.size(); ++i) {
    const Point& point = results.plan.points[i];
    const PointFindings& found = results.findings.points[i];
    for (std::size_t k = 0; k < found.findings.size(); ++k) {
      if (!found.findings[k]) continue;
      const Figure& figure = results.findings.figures[k];
      const Statistics& own = found.findings[k]->own;
      std::vector<std::string> row = place_of(results, point, axes);
      row.insert(row.end(), {figure.key, figure.unit, std::string(muster::name_of(figure.better)),
                             std::to_string(own.count), found.seedless ? "true" : "false",
                             text_of(own.mean), text_of(own.deviation), text_of(own.half_width),
                             text_of(own.min), text_of(own.max)});
      const Statistics none{};
      const auto& difference = found.findings[k]->difference;
      const auto& ratio = found.findings[k]->ratio;
      row.push_back(difference ? results.plan.points[*point.baseline].policy : "");
      row.push_back(difference ? std::to_string(difference->count) : "");
      row.push_back(difference ? number_text(difference->mean) : "");
      row.push_back(text_of(difference.value_or(none).half_width));
      row.push_back(ratio ? number_text(ratio->mean) : "");
      row.push_back(text_of(ratio.value_or(none).half_width));
      text += line_of(row);
    }
  }
  return text;
}

std::string results_json(const Results& results) {
  const Experiment& experiment = results.experiment;
  const Provenance& from = results.provenance;
  const Json json{{"name", experiment.name},
                  {"about", experiment.about},
                  {"file", experiment.file.string()},
                  {"baseline", experiment.baseline},
                  {"metrics_shown", experiment.metrics},
                  {"command", from.command},
                  {"version", from.version},
                  {"program_sha256", from.program},
                  {"began", from.began},
                  {"machine", from.machine},
                  {"figures", json_of_figures(results.findings)},
                  {"points", json_of_points(results)},
                  {"runs", json_of_runs(results)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::experiment

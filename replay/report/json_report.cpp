#include "replay/report/json_report.hpp"

#include <nlohmann/json.hpp>

#include "replay/metrics/metric_table.hpp"

// Runs as JSON, member by member from the table of metrics. Members keep the order of the table, so
// that two reports compare line by line.

namespace muster::report {
namespace {

using Json = nlohmann::ordered_json;

Json value_of(const metrics::Metric& metric, const metrics::RunResult& run) {
  const std::optional<double> value = metric.of(run);
  if (!value) return nullptr;
  // Counts are written as integers, not as 3.0; doubles hold them exactly up to 2^53.
  return metric.whole ? Json(static_cast<std::uint64_t>(*value)) : Json(*value);
}

/// Sets the metric's member, or that of its group.
void put(Json& json, const metrics::Metric& metric, const metrics::RunResult& run) {
  // A key "group.name" is a member of an object; a group that the run does not have is null, for
  // json[] has made it.
  const std::size_t dot = metric.key.find('.');
  Json& member = json[metric.key.substr(0, dot)];
  if (dot == std::string::npos) {
    member = value_of(metric, run);
  } else if (!metric.has_group || metric.has_group(run)) {
    member[metric.key.substr(dot + 1)] = value_of(metric, run);
  }
}

Json purposes_of(const metrics::RunResult& run) {
  Json purposes = Json::object();
  for (const auto& [purpose, usd] : run.cost_by_purpose) purposes[purpose] = usd;
  return purposes;
}

Json not_completed_of(const metrics::RunResult& run) {
  Json jobs = Json::array();
  for (const auto& [job, reason] : run.not_completed) {
    jobs.push_back({{"job", job}, {"reason", reason}});
  }
  return jobs;
}

Json choices_of(const metrics::NoteFigures& notes) {
  Json choices = Json::object();
  for (const auto& [choice, rounds] : notes.rounds_by_choice) choices[choice] = rounds;
  return choices;
}

Json figures_of(const metrics::NoteFigures& notes) {
  Json figures = Json::object();
  for (const metrics::NoteFigure& figure : notes.figures) {
    figures[figure.name] = {{"rounds", figure.rounds},
                            {"mean", figure.mean},
                            {"min", figure.least},
                            {"max", figure.most}};
  }
  return figures;
}

Json series_of(const metrics::Series& series) {
  Json points = Json::array();
  for (const auto& [hour, value] : series) points.push_back({hour, value});
  return points;
}

/// Null where no GPU was rented.
Json over_time(const metrics::RunResult& run) {
  if (!run.gpu_h) return nullptr;
  const metrics::GpuSeries& gpus = run.gpus_over_time;
  return {{"gpus_used", series_of(gpus.used)},
          {"gpus_rented", series_of(gpus.rented)},
          {"efficiency", series_of(gpus.efficiency)},
          {"width_error", series_of(run.width_error_over_time)}};
}

Json json_of(const metrics::RunResult& run) {
  Json json{{"policy", run.policy}, {"seed", run.seed}};
  for (const metrics::Metric& metric : metrics::metric_table()) put(json, metric, run);
  json["event_log_sha256"] = run.event_log_sha256;
  json["cost_by_purpose"] = purposes_of(run);
  json["rows_left_out"] = run.left_out;
  json["jobs_not_completed"] = run.not_completed.size();
  json["not_completed"] = not_completed_of(run);
  json["rounds_by_choice"] = choices_of(run.notes);
  json["round_figures"] = figures_of(run.notes);
  json["over_time"] = over_time(run);
  return json;
}

}  // namespace

std::string json_report(std::span<const metrics::RunResult> runs) {
  Json list = Json::array();
  for (const metrics::RunResult& run : runs) list.push_back(json_of(run));
  return Json{{"runs", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::report

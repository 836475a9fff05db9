#include "tools/pareto/frontier_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "replay/report/assets.hpp"
#include "replay/report/html_text.hpp"
#include "replay/report/table.hpp"
#include "schedulers/boa/class_work.hpp"
#include "serve/page/chart_js.hpp"
#include "tools/pareto/page.hpp"

namespace muster::pareto {
namespace {

using Json = nlohmann::ordered_json;
using report::grouped;
using report::Summary;

bool are_weighted(const ElasticLoad& load) {
  for (const LoadClass& each : load.classes) {
    if (each.work.weight != 1) return true;
  }
  return false;
}

void drop_column(Summary& table, std::ptrdiff_t index) {
  table.columns.erase(table.columns.begin() + index);
  for (auto& row : table.rows) row.erase(row.begin() + index);
}

Summary classes_of(const ElasticLoad& load) {
  Summary table;
  table.columns = {{"class", ""},    {"jobs", ""},   {"rate", "jobs/h"}, {"size", "GPU-h"},
                   {"load", "GPUs"}, {"start", "s"}, {"worker", "$/h"},  {"weight", ""}};
  for (const LoadClass& each : load.classes) {
    table.rows.push_back({each.work.name, std::to_string(each.jobs),
                          grouped(each.work.jobs_per_h, 3),
                          grouped(boa::gpu_h_of(each.work.epochs), 3), grouped(each.load_gpus(), 2),
                          grouped(each.work.rescale_h * 3600, 0), grouped(each.worker_usd_h, 3),
                          fmt::format("{:g}", each.work.weight)});
  }
  if (!are_weighted(load)) drop_column(table, std::ssize(table.columns) - 1);
  return table;
}

/// Missing figures are "-". Nothing where types were not asked for.
Summary types_of(const FrontierReport& report) {
  Summary table;
  table.columns = {{"budget", "GPUs"},
                   {"budget", "$/h"},
                   {report.load.types.front().name, "JCT s"},
                   {"all types", "JCT s"}};
  for (const boa::GpuType& type : report.load.types) table.columns.push_back({type.name, "GPUs"});
  table.columns.push_back({"with starts", "JCT s"});
  for (const boa::GpuType& type : report.load.types) table.columns.push_back({type.name, "GPUs"});
  for (const FrontierPoint& point : report.frontier.points) {
    if (!point.typed) continue;
    std::vector<std::string> row{
        fmt::format("{:g}", point.budget_gpus), grouped(point.typed->usd_h, 2),
        grouped(point.typed->one_type_jct_s, 1), grouped(point.typed->jct_s, 1)};
    for (const double gpus : point.typed->gpus) row.push_back(grouped(gpus, 2));
    const auto& started = point.typed->started_jct_s;
    row.push_back(started ? grouped(*started, 1) : "-");
    for (std::size_t type = 0; type < report.load.types.size(); ++type) {
      row.push_back(started ? grouped(point.typed->started_gpus[type], 2) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

bool shows_types(const FrontierReport& report) {
  return std::ranges::any_of(report.frontier.points,
                             [](const FrontierPoint& point) { return point.typed.has_value(); });
}

Summary points_of(const FrontierReport& report) {
  Summary table;
  table.columns = {{"budget", "GPUs"}, {"GPUs", "used"},      {"GPU-h", "used"},
                   {"cost", "$/h"},    {"cost", "$"},         {"JCT mean", "s"},
                   {"weighted", "s"},  {"bound", "s"},        {"in nodes", "GPUs used"},
                   {"in nodes", "$"},  {"in nodes", "JCT s"}, {"rented", "GPU-h"},
                   {"replayed", "$"},  {"JCT mean", "s"},     {"p95", "s"}};
  constexpr std::ptrdiff_t kWeighted = 6;
  const bool weighted = are_weighted(report.load);
  for (const FrontierPoint& point : report.frontier.points) {
    std::vector<std::string> row{fmt::format("{:g}", point.budget_gpus)};
    if (const auto& made = point.predicted) {
      row.insert(row.end(),
                 {grouped(made->gpus, 2), grouped(made->gpu_h, 1), grouped(made->usd_h, 2),
                  grouped(made->usd, 2), grouped(made->mean_jct_s, 1),
                  grouped(made->weighted_jct_s, 1), grouped(made->bound_jct_s, 1)});
    }
    row.resize(8, "-");
    if (const auto& made = point.in_nodes) {
      row.insert(row.end(), {grouped(made->used_gpus, 2), grouped(made->usd, 2),
                             grouped(made->mean_jct_s, 1)});
    }
    row.resize(11, "-");
    if (const auto& run = point.replayed) {
      row.insert(row.end(), {grouped(run->rented_gpu_h, 1), grouped(run->usd, 2),
                             grouped(run->mean_jct_s, 1), grouped(run->p95_jct_s, 1)});
    }
    row.resize(table.columns.size(), "-");
    table.rows.push_back(std::move(row));
  }
  if (!weighted) drop_column(table, kWeighted);
  return table;
}

/// Notes that a reader needs to understand the figures.
std::vector<std::string> notes_of(const FrontierReport& report) {
  std::vector<std::string> notes;
  const ElasticLoad& load = report.load;
  std::size_t infeasible = 0;
  for (const FrontierPoint& point : report.frontier.points) infeasible += !point.predicted;
  if (infeasible > 0) {
    notes.push_back(fmt::format(
        "{} of {} budgets cannot be kept: the load is {:.2f} GPUs, and the cheapest widths need "
        "{:.3f} on average, starts included.",
        infeasible, report.frontier.points.size(), load.load_gpus(), report.frontier.least_gpus));
  }
  if (load.others > 0) {
    notes.push_back(fmt::format("Left out, as they are not elastic: {} job{}.", load.others,
                                load.others == 1 ? "" : "s"));
  }
  for (const FrontierPoint& point : report.frontier.points) {
    if (!point.replayed || point.replayed->jobs_left == 0) continue;
    notes.push_back(fmt::format("At a budget of {:g} GPUs {} job{} did not complete.",
                                point.budget_gpus, point.replayed->jobs_left,
                                point.replayed->jobs_left == 1 ? "" : "s"));
  }
  return notes;
}

/// Of a point for a target `in_nodes` says another thing.
std::vector<std::string> notes_of_frontier(const FrontierReport& report) {
  std::vector<std::string> notes = notes_of(report);
  const auto only_at_once = std::ranges::count_if(
      report.frontier.points, [](const auto& point) { return point.predicted && !point.in_nodes; });
  if (only_at_once > 0) {
    notes.push_back(
        fmt::format("{} of {} budgets can be kept only where instances start at once and are full: "
                    "starting nodes and unused parts of nodes leave too few GPUs.",
                    only_at_once, report.frontier.points.size()));
  }
  return notes;
}

std::string head_of(const FrontierReport& report) {
  return fmt::format("{}\n{}, jobs over {:g} h\n\n", report.workload, report.policy,
                     report.load.hours);
}

Json json_of(const ElasticLoad& load) {
  Json classes = Json::array();
  for (const LoadClass& each : load.classes) {
    classes.push_back({{"class", each.work.name},
                       {"jobs", each.jobs},
                       {"jobs_per_h", each.work.jobs_per_h},
                       {"gpu_h", boa::gpu_h_of(each.work.epochs)},
                       {"load_gpus", each.load_gpus()},
                       {"rescale_s", each.work.rescale_h * 3600},
                       {"worker_usd_h", each.worker_usd_h},
                       {"weight", each.work.weight}});
  }
  Json types = Json::array();
  for (const boa::GpuType& type : load.types) {
    types.push_back({{"type", type.name}, {"usd_h", type.usd_h}, {"speed", type.speed}});
  }
  return {{"hours", load.hours},
          {"load_gpus", load.load_gpus()},
          {"jobs_not_elastic", load.others},
          {"classes", std::move(classes)},
          {"types", std::move(types)}};
}

Json json_of(const FrontierPoint& point) {
  Json json{{"budget_gpus", point.budget_gpus},
            {"predicted", nullptr},
            {"in_nodes", nullptr},
            {"replayed", nullptr}};
  if (const auto& made = point.predicted) {
    json["predicted"] = {{"gpus", made->gpus},
                         {"gpu_h", made->gpu_h},
                         {"usd_h", made->usd_h},
                         {"usd", made->usd},
                         {"mean_jct_s", made->mean_jct_s},
                         {"weighted_jct_s", made->weighted_jct_s},
                         {"bound_jct_s", made->bound_jct_s}};
  }
  if (const auto& made = point.in_nodes) {
    json["in_nodes"] = {
        {"rented_gpus", made->rented_gpus},     {"used_gpus", made->used_gpus},
        {"starting_gpus", made->starting_gpus}, {"remainder_gpus", made->remainder_gpus},
        {"rented_gpu_h", made->rented_gpu_h},   {"usd", made->usd},
        {"mean_jct_s", made->mean_jct_s},       {"weighted_jct_s", made->weighted_jct_s}};
  }
  if (const auto& run = point.replayed) {
    json["replayed"] = {{"rented_gpu_h", run->rented_gpu_h},
                        {"usd", run->usd},
                        {"mean_jct_s", run->mean_jct_s},
                        {"p95_jct_s", run->p95_jct_s},
                        {"jobs_left", run->jobs_left}};
  }
  if (const auto& typed = point.typed) {
    json["typed"] = {{"usd_h", typed->usd_h},
                     {"one_type_jct_s", typed->one_type_jct_s},
                     {"jct_s", typed->jct_s},
                     {"gpus", typed->gpus}};
    const auto& started = typed->started_jct_s;
    json["typed"]["started_jct_s"] = started ? Json(*started) : Json(nullptr);
    json["typed"]["started_gpus"] = typed->started_gpus;
  }
  return json;
}

Json json_of(const FrontierReport& report) {
  return {{"workload", report.workload},
          {"policy", report.policy},
          {"load", json_of(report.load)},
          {"least_budget_gpus", report.frontier.least_gpus}};
}

Json points_json(const Frontier& frontier) {
  Json points = Json::array();
  for (const FrontierPoint& point : frontier.points) points.push_back(json_of(point));
  return points;
}

}  // namespace

std::string frontier_table(const FrontierReport& report, std::size_t max_width) {
  std::string text = head_of(report) + report::table_text(classes_of(report.load), max_width) +
                     "\n" + report::table_text(points_of(report), max_width);
  if (shows_types(report)) {
    text += "\nThe same dollars on one type and on all, starts not counted:\n" +
            report::table_text(types_of(report), max_width);
  }
  const std::vector<std::string> notes = notes_of_frontier(report);
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

std::string frontier_json(const FrontierReport& report) {
  Json json = json_of(report);
  json["points"] = points_json(report.frontier);
  return json.dump(2) + "\n";
}

std::string frontier_html(const FrontierReport& report) {
  namespace assets = report::assets;
  std::string notes;
  for (const std::string& note : notes_of_frontier(report)) {
    notes += "<p class=\"note\">" + report::escape_html(note) + "</p>\n";
  }
  std::string types;
  if (shows_types(report)) {
    types = "<p class=\"note\">The same dollars on one type and on all, starts not counted.</p>\n" +
            report::html_table(types_of(report));
  }
  return report::fill_page(page::kPage,
                           {{"title", report::escape_html(report.workload)},
                            {"policy", report::escape_html(report.policy)},
                            {"style", std::string(assets::kStyle)},
                            {"budgets", report::html_table(points_of(report))},
                            {"types", types},
                            {"classes", report::html_table(classes_of(report.load))},
                            {"notes", notes},
                            {"data", report::script_safe(points_json(report.frontier))},
                            {"chartjs", std::string(web::kChartJs)},
                            {"script", std::string(page::kScript)}});
}

std::string budget_text(const FrontierReport& report, double target_s) {
  const FrontierPoint& point = report.frontier.points.front();
  const Prediction& made = *point.predicted;
  std::string text = head_of(report);
  text += fmt::format(
      "budget {:.3f} GPUs: jobs take {:.1f} s on average{}, {:.1f} s were asked for\n"
      "they have {:.2f} GPUs on average: {} GPU-hours over {:g} h, ${} an hour, ${} in all\n",
      point.budget_gpus, made.weighted_jct_s, are_weighted(report.load) ? " by weight" : "",
      target_s, made.gpus, grouped(made.gpu_h, 1), report.load.hours, grouped(made.usd_h, 2),
      grouped(made.usd, 2));
  if (const auto& nodes = point.in_nodes) {
    text += fmt::format(
        "in nodes: a budget of {:.2f} GPUs rented, {:.2f} of which start and {:.2f} of which are "
        "left over:\n    {} GPU-hours, ${} in all\n",
        std::ceil(nodes->rented_gpus * 100) / 100, nodes->starting_gpus, nodes->remainder_gpus,
        grouped(nodes->rented_gpu_h, 1), grouped(nodes->usd, 2));
  } else {
    text += "in nodes no budget meets it: jobs wait for them at every growth\n";
  }
  text += fmt::format("the load is {:.2f} GPUs; no budget below {:.3f} can be kept\n",
                      report.load.load_gpus(), report.frontier.least_gpus);
  for (const std::string& note : notes_of(report)) text += note + "\n";
  return text;
}

std::string budget_json(const FrontierReport& report, double target_s) {
  Json json = json_of(report);
  json["target_s"] = target_s;
  json["budget"] = json_of(report.frontier.points.front());
  return json.dump(2) + "\n";
}

}  // namespace muster::pareto

#include <fmt/format.h>

#include <algorithm>

#include "replay/report/assets.hpp"
#include "replay/report/html_text.hpp"
#include "serve/page/chart_js.hpp"
#include "tools/experiment/page.hpp"
#include "tools/experiment/result_tables.hpp"

// The results as one page. It holds statistics and no runs: a page over thousands of runs opens as
// fast as one over ten.

namespace muster::experiment {
namespace {

using Json = nlohmann::ordered_json;
using report::escape_html;

Json interval_of(const std::optional<Statistics>& of) {
  if (!of) return nullptr;
  return Json::array({of->mean, of->half_width ? Json(*of->half_width) : Json(nullptr)});
}

/// The figure's name as tables have it, else its key in words.
std::string name_of(const Figure& figure) {
  if (figure.column) return figure.column->name;
  std::string words = figure.key;
  std::replace(words.begin(), words.end(), '_', ' ');
  std::replace(words.begin(), words.end(), '.', ' ');
  return words;
}

Json data_of(const Results& results) {
  Json figures = Json::array(), points = Json::array();
  for (const Figure& figure : results.findings.figures) {
    figures.push_back({{"key", figure.key},
                       {"name", name_of(figure)},
                       {"unit", figure.unit},
                       {"how", figure.how}});
  }
  for (std::size_t i = 0; i < results.plan.points.size(); ++i) {
    const Point& point = results.plan.points[i];
    const PointFindings& found = results.findings.points[i];
    Json axes = Json::object(), by_figure = Json::object();
    for (const Label& label : point.labels) axes[label.axis] = label.value;
    for (std::size_t k = 0; k < found.findings.size(); ++k) {
      const auto& finding = found.findings[k];
      if (!finding) continue;
      by_figure[results.findings.figures[k].key] = {
          {"own", interval_of(finding->own)},
          {"difference", interval_of(finding->difference)},
          {"ratio", interval_of(finding->ratio)}};
    }
    points.push_back({{"grid", results.experiment.grids[point.grid].name},
                      {"axes", axes},
                      {"policy", point.policy},
                      {"family", point.family},
                      {"runs", found.done.size()},
                      {"figures", by_figure}});
  }
  return {{"figures", figures}, {"points", points}, {"shown", results.experiment.metrics}};
}

std::string tables_of(const Results& results) {
  std::string html;
  const auto& grids = results.experiment.grids;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const report::Summary table = table_of_grid(results, i);
    if (table.rows.empty()) continue;
    html += fmt::format("<section><h2>{}</h2><div class=\"scroll\">{}</div></section>\n",
                        escape_html(grids[i].name), report::html_table(table));
  }
  return html;
}

std::string notes_html(const Results& results) {
  std::string html;
  for (const std::string& note : notes_of(results)) html += "<p>" + escape_html(note) + "</p>\n";
  return html.empty() ? "<p>Every run has a result, and every job completed.</p>" : html;
}

std::string provenance_html(const Provenance& from) {
  std::string rows;
  const auto add = [&](const char* name, const std::string& value) {
    rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", name, escape_html(value));
  };
  add("command", from.command);
  add("version", from.version);
  add("SHA-256 of the program", from.program);
  add("began (UTC)", from.began);
  for (const auto& [name, value] : from.machine.items()) {
    add(name.c_str(), value.is_string() ? value.get<std::string>() : value.dump());
  }
  return "<table class=\"text\"><tbody>\n" + rows + "</tbody></table>";
}

}  // namespace

std::string results_html(const Results& results) {
  namespace assets = report::assets;
  return report::fill_page(page::kPage, {{"title", escape_html(results.experiment.name)},
                                         {"about", escape_html(results.experiment.about)},
                                         {"style", std::string(assets::kStyle)},
                                         {"tables", tables_of(results)},
                                         {"notes", notes_html(results)},
                                         {"provenance", provenance_html(results.provenance)},
                                         {"data", report::script_safe(data_of(results))},
                                         {"chartjs", std::string(web::kChartJs)},
                                         {"script", std::string(page::kScript)}});
}

}  // namespace muster::experiment

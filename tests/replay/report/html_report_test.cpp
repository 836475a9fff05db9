#include "replay/report/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "replay/report/assets.hpp"
#include "serve/page/chart_js.hpp"
#include "tests/replay/report/runs.hpp"

namespace muster::report {
namespace {

using muster::test::run_of;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

metrics::RunResult plotted(const std::string& policy) {
  metrics::RunResult run = run_of(policy, 1, 100);
  run.cost_over_time = {{0, 0}, {100, 100}};
  for (int i = 0; i < 12; ++i) {
    run.instances_by_type["t" + std::to_string(i)] = {{0, i + 1}, {100, 0}};
  }
  for (int i = 0; i < 1000; ++i) run.jct_h.push_back(i + 1);
  run.instance_uptime_h = {2, 1};
  run.allocation_over_time[1] = {{0, 0.123456789}};
  return run;
}

/// What the page says besides the chart library.
std::string own_part(std::string page) {
  const std::size_t library = page.find(web::kChartJs);
  EXPECT_NE(library, std::string::npos) << "the chart library is in the page";
  return page.erase(library, web::kChartJs.size());
}

json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(HtmlReport, has_every_section) {
  const std::vector<metrics::RunResult> runs = {plotted("eva")};
  const std::string page = html_report("eva-200", runs);
  for (const char* section : {"summary", "cost-over-time", "instances-over-time", "jct", "uptime",
                              "jct-ratio", "allocation", "gpus-over-time", "efficiency",
                              "width-error", "cost-by-purpose", "not-completed"}) {
    EXPECT_THAT(page, HasSubstr("<section id=\"" + std::string(section) + "\""));
  }
  EXPECT_THAT(page, HasSubstr("<td>eva</td><td>199/200</td><td>100.00</td>"));
  EXPECT_THAT(page, HasSubstr("<td>17</td><td>" + runs[0].not_completed[0].second + "</td>"));
  EXPECT_THAT(page, Not(HasSubstr("{{title")));
}

TEST(HtmlReport, leaves_out_columns_that_no_policy_has_a_figure_for) {
  std::vector<metrics::RunResult> runs = {plotted("eva"), plotted("ffd")};
  EXPECT_THAT(html_report("x", runs), Not(HasSubstr("bound %")));
  runs[1].bound_usd = 80;
  runs[1].jobs_completed = runs[1].jobs_submitted;
  EXPECT_THAT(html_report("x", runs), HasSubstr("<th>above<small>bound %</small></th>"));
}

TEST(HtmlReport, needs_nothing_from_elsewhere) {
  const std::vector<metrics::RunResult> runs = {plotted("eva")};
  const std::string page = own_part(html_report("eva-200", runs));
  for (const char* loader : {"http:", "https:", "src=", "href=", "@import", "url(", "fetch(",
                             "import(", "XMLHttpRequest", "WebSocket"}) {
    EXPECT_THAT(page, Not(HasSubstr(loader)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(HtmlReport, the_chart_library_cannot_end_its_script_element) {
  EXPECT_EQ(web::kChartJs.find("</script"), std::string_view::npos);
  EXPECT_EQ(assets::kScript.find("</script"), std::string_view::npos);
}

TEST(HtmlReport, texts_from_outside_cannot_break_out) {
  const std::string evil = "</script><script>alert(1)</script>\"'&{{script}}";
  metrics::RunResult run = plotted(evil);
  run.not_completed = {{evil, evil}};
  run.cost_by_purpose = {{evil, 1}};
  const std::string page = own_part(html_report(evil, {&run, 1}));
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>\"")));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)"));
  EXPECT_EQ(data_of(page)[0]["policy"], evil);
}

TEST(HtmlReport, types_beyond_the_most_used_are_added_up) {
  const std::vector<metrics::RunResult> runs = {plotted("eva")};
  const json types = data_of(html_report("x", runs))[0]["instances"];
  ASSERT_EQ(types.size(), 10u);
  EXPECT_EQ(types[0]["type"], "t11");
  EXPECT_EQ(types[9]["type"], "others");
  EXPECT_EQ(types[9]["points"][0][1], 1 + 2 + 3);
}

TEST(HtmlReport, distributions_keep_their_ends_when_thinned_out) {
  const std::vector<metrics::RunResult> runs = {plotted("eva")};
  const json data = data_of(html_report("x", runs))[0];
  ASSERT_EQ(data["jct"].size(), 400u);
  EXPECT_EQ(data["jct"][0], json::parse("[1.0,0.001]"));
  EXPECT_EQ(data["jct"][399], json::parse("[1000.0,1.0]"));
  EXPECT_EQ(data["uptime"], json::parse("[[1.0,0.5],[2.0,1.0]]"));
}

TEST(HtmlReport, policies_with_several_runs_are_drawn_once_with_the_distributions_of_all) {
  std::vector<metrics::RunResult> runs = {plotted("eva"), plotted("eva")};
  runs[1].instance_uptime_h = {5, 6};
  runs[1].cost_by_purpose = {{"tasks", 25}};
  const json data = data_of(html_report("x", runs));
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(data[0]["uptime"].size(), 4u);
  EXPECT_EQ(data[0]["purposes"], json::parse("[[\"tasks\",50.0],[\"boot\",12.5]]"));
}

TEST(HtmlReport, is_made_even_of_runs_without_figures) {
  const std::vector<metrics::RunResult> runs = {{}};
  EXPECT_THAT(html_report("x", runs), HasSubstr("Every job completed"));
  EXPECT_THAT(html_report("x", {}), HasSubstr("id=\"data\">[]</script>"));
}

}  // namespace
}  // namespace muster::report

#include "tools/experiment/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "replay/report/assets.hpp"
#include "serve/page/chart_js.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/line_with.hpp"
#include "tests/tools/experiment/studies.hpp"

namespace muster::experiment {
namespace {

using muster::test::IsGolden;
using muster::test::line_with;
using nlohmann::json;
using test::report_of;
using test::study_of;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Results sample() {
  return study_of({report_of(100, 5), report_of(200, 5), report_of(300, 5), report_of(90, 6),
                   report_of(180, 6), report_of(270, 6)});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Results, as_a_table_have_mean_interval_and_paired_difference) {
  const std::string text = results_text(sample(), 400);
  EXPECT_THAT(text, StartsWith("first, second (differences to no-packing)\n"));
  EXPECT_THAT(text, HasSubstr("eva [t=0.5]            3  180.00  223.59   90.00   90.00  270.00"));
  EXPECT_THAT(text, HasSubstr("-20.00  24.84  90.00  0.00"));
}

TEST(Results, say_what_the_seed_did_not_change_and_what_is_missing) {
  const std::string text = results_text(
      study_of({report_of(1, 5), report_of(1, 5), report_of(1, 5), report_of(2, 5), {}, {}}), 400);
  EXPECT_THAT(text, HasSubstr("no-packing [t=0.5]  3 same  1.00      -"));
  EXPECT_THAT(text, HasSubstr("1/3"));
  EXPECT_THAT(line_with(text, "same: "), IsGolden());
  EXPECT_THAT(line_with(text, "Runs without"), IsGolden());
}

TEST(Results, say_when_jobs_did_not_complete) {
  RunJson run = report_of(1, 5);
  run["jobs_not_completed"] = 2;
  EXPECT_THAT(line_with(results_text(study_of({run, {}, {}, {}, {}, {}}), 400), "Runs in which"),
              IsGolden());
}

TEST(Results, as_csv_have_a_row_a_run_and_units_in_the_head) {
  const auto lines = lines_of(runs_csv(sample()));
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_THAT(lines[0], StartsWith("grid,t,policy,seed,key,config,set,jobs_submitted [jobs],"));
  EXPECT_THAT(lines[0], HasSubstr(",total_cost_usd [$],mean_jct_h [h],"));
  EXPECT_THAT(lines[4], StartsWith("\"first, second\",0.5,eva,1,kkk"));
  EXPECT_THAT(lines[4], HasSubstr(",a.toml,a.b=1; c=2,200,199,90,6,"));
  EXPECT_EQ(std::count(lines[0].begin(), lines[0].end(), ','),
            std::count(lines[1].begin(), lines[1].end(), ',') - 1)
      << "the name of the grid has a comma";
}

TEST(Results, as_a_csv_of_statistics_have_a_row_a_point_and_figure) {
  const std::string text = summary_csv(sample());
  EXPECT_THAT(text, StartsWith("grid,t,policy,metric,unit,better,runs,same_for_all_seeds,mean,"));
  EXPECT_THAT(text, HasSubstr("\"first, second\",0.5,eva,total_cost_usd,$,lower,3,false,180,90,"));
  EXPECT_THAT(text, HasSubstr(",90,270,no-packing,3,-20,"));
}

TEST(Results, as_json_have_points_runs_and_what_made_them) {
  const json report = json::parse(results_json(sample()));
  EXPECT_EQ(report.at("version"), "1.2.3");
  EXPECT_EQ(report.at("machine").at("cores"), 2);
  ASSERT_EQ(report.at("points").size(), 2u);
  const json& eva = report.at("points").at(1);
  EXPECT_EQ(eva.at("axes").at("t"), "0.5");
  EXPECT_EQ(eva.at("policy_in_file"), "eva,t={t}");
  EXPECT_EQ(eva.at("baseline"), "no-packing");
  const json& cost = eva.at("metrics").at("total_cost_usd");
  EXPECT_EQ(cost.at("mean"), 180);
  EXPECT_EQ(cost.at("difference").at("mean"), -20);
  EXPECT_EQ(cost.at("ratio").at("mean"), 0.9);
  ASSERT_EQ(report.at("runs").size(), 6u);
  EXPECT_EQ(report.at("runs").at(5).at("seed"), 3);
  EXPECT_EQ(report.at("runs").at(5).at("record").at("run").at("total_cost_usd"), 270);
}

TEST(Results, as_a_page_need_nothing_from_elsewhere_and_escape_texts) {
  std::string page = results_html(sample());
  const std::size_t library = page.find(web::kChartJs);
  ASSERT_NE(library, std::string::npos);
  page.erase(library, web::kChartJs.size());
  for (const char* loader : {"http:", "https:", "src=", "href=", "@import", "url(", "fetch("}) {
    EXPECT_THAT(page, Not(HasSubstr(loader)));
  }
  EXPECT_THAT(page, HasSubstr("<h1>study &lt;1&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("<p>what &amp; why</p>"));
  EXPECT_THAT(page, HasSubstr("<td>eva [t=0.5]</td><td>3</td><td>180.00</td>"));
  EXPECT_THAT(page, HasSubstr("<td>muster experiment 'a b.toml'</td>"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(Results, as_a_page_hold_mean_and_interval_of_every_figure) {
  const std::string page = results_html(sample());
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  const json data = json::parse(page.substr(from, page.find("</script>", from) - from));
  const json& cost = data.at("points").at(1).at("figures").at("total_cost_usd");
  EXPECT_EQ(cost.at("own").at(0), 180);
  EXPECT_NEAR(cost.at("own").at(1), 223.6, 0.1);
  EXPECT_EQ(cost.at("difference").at(0), -20);
  EXPECT_EQ(data.at("points").at(1).at("family"), "eva,t={t}");
  EXPECT_EQ(data.at("shown").at(0), "total_cost_usd");
  for (const json& figure : data.at("figures")) {
    if (figure.at("key") != "total_cost_usd") continue;
    EXPECT_EQ(figure.at("name"), "cost");
    EXPECT_FALSE(figure.at("how").get<std::string>().empty());
  }
}

TEST(RunRecord, keeps_the_run_with_its_command_and_is_read_back) {
  const std::string report = "{\"runs\": [" + report_of(7, 5).dump() + "]}\n";
  const RunRecord record{.key = "abc",
                         .run = {.config = "it's.toml", .policy = "eva", .overrides = {"a=b c"}},
                         .took = std::chrono::seconds{2},
                         .at_once = 3};
  const auto text = record_of(report, record, test::study().provenance);
  ASSERT_TRUE(text);
  const auto back = parse_record(*text, "abc");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at("run").at("total_cost_usd"), 7);
  EXPECT_EQ(back->at("seconds"), 2);
  EXPECT_THAT(back->at("command"), StartsWith("muster replay 'it'\\''s.toml' --policy eva"));
  EXPECT_FALSE(parse_record(*text, "other"));
}

TEST(RunRecord, is_made_of_a_whole_report_only) {
  const RunRecord record{.key = "abc", .run = {}};
  const Provenance from = test::study().provenance;
  const std::string report = "{\"runs\": [" + report_of(7, 5).dump() + "]}\n";
  EXPECT_TRUE(record_of(report, record, from));
  EXPECT_FALSE(record_of(report.substr(0, report.size() / 2), record, from));
  EXPECT_FALSE(record_of("", record, from));
  EXPECT_FALSE(record_of("{\"runs\": []}", record, from));
  EXPECT_FALSE(parse_record("{\"format\": 1", "abc"));
}

}  // namespace
}  // namespace muster::experiment

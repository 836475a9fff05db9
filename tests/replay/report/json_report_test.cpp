#include "replay/report/json_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "replay/metrics/metric_table.hpp"
#include "tests/replay/report/runs.hpp"

namespace muster::report {
namespace {

using muster::test::run_of;
using nlohmann::json;

TEST(JsonReport, has_exactly_the_documented_members_in_their_order) {
  std::vector<metrics::RunResult> runs = {run_of("eva", 7, 16)};
  runs[0].normalized = {{"total_cost_usd", 0.58}, {"mean_jct_h", 1.5}, {"throughput_jobs_h", 0.5}};
  runs[0].notes.figures = {{"gain_usd_h", 3, 2, 0.5, 4}};
  runs[0].short_jobs = metrics::ClassFigures{9, 8, 4.5, 3.5, {}, {}, 0.75};
  runs[0].left_out = {{"that did not run", 2}};
  runs[0].makespan_s = 7200;
  runs[0].throughput_jobs_h = 99.5;
  runs[0].utilization[static_cast<std::size_t>(Resource::cpu)] = 0.75;
  EXPECT_EQ(nlohmann::ordered_json::parse(json_report(runs)).dump(),
            "{\"runs\":[{\"policy\":\"eva\",\"seed\":7,\"jobs_submitted\":200,"
            "\"jobs_completed\":199,\"total_cost_usd\":16.0,"
            "\"normalized_cost\":0.58,\"tariff_usd\":null,\"bound\":null,\"mean_jct_h\":17.67,"
            "\"p50_jct_h\":4.5,"
            "\"p95_jct_h\":90.25,\"p99_jct_h\":120.0,\"p50_slowdown\":1.25,"
            "\"p95_slowdown\":null,\"normalized_jct\":1.5,"
            "\"short_jobs\":{\"jobs_submitted\":9,\"jobs_completed\":8,\"mean_jct_s\":4.5,"
            "\"p50_jct_s\":3.5,\"p90_jct_s\":null,\"p99_jct_s\":null,\"slo_met\":0.75,"
            "\"normalized_jct\":null},"
            "\"long_jobs\":null,\"makespan_s\":7200.0,\"throughput_jobs_h\":99.5,"
            "\"normalized_throughput\":0.5,"
            "\"utilization\":{\"gpu\":null,\"cpu\":0.75,\"memory\":null,\"storage\":null,"
            "\"network\":null,\"spare\":null},\"gpu_h_unused\":null,\"mean_idle_h\":0.1,"
            "\"mean_normalized_throughput\":0.9,\"tasks_per_instance\":2.5,"
            "\"allocation\":{\"gpu\":0.5,\"cpu\":0.625,\"memory\":0.75},"
            "\"gpu_h\":null,\"gpus_while_arriving\":null,\"efficiency\":null,\"width_error\":null,"
            "\"instances_launched\":200,\"interruptions\":0,\"lost_work_h\":0.0,"
            "\"migrations_per_task\":1.25,"
            "\"full_reconfiguration_share\":0.125,\"rounds\":1000,\"decision_ms_mean\":0.125,"
            "\"decision_ms_p99\":2.0,\"wall_s\":3.5,\"events\":12345,"
            "\"event_log_sha256\":\"abc\",\"cost_by_purpose\":{\"tasks\":12.0,\"boot\":4.0},"
            "\"rows_left_out\":{\"that did not "
            "run\":2},\"jobs_not_completed\":1,\"not_completed\":[{\"job\":\"17\",\"reason\":"
            "\"never: fits "
            "no type\"}],\"rounds_by_choice\":{\"full\":1,\"partial\":7},"
            "\"round_figures\":{\"gain_usd_h\":{\"rounds\":3,\"mean\":2.0,\"min\":0.5,"
            "\"max\":4.0}},\"over_time\":null}]}");
}

TEST(JsonReport, has_the_bound_where_it_was_asked_for) {
  metrics::RunResult run = run_of("eva", 7, 16);
  run.bound_usd = 10;
  run.jobs_completed = run.jobs_submitted;
  const json bound = json::parse(json_report(std::vector{run}))["runs"][0]["bound"];
  EXPECT_EQ(bound.at("usd"), 10);
  EXPECT_DOUBLE_EQ(bound.at("above").get<double>(), 0.6);
}

TEST(JsonReport, figures_without_a_meaning_are_null) {
  const std::vector<metrics::RunResult> runs = {{}};
  const json run = json::parse(json_report(runs))["runs"][0];
  for (const char* name :
       {"normalized_cost", "mean_jct_h", "p50_jct_h", "p95_jct_h", "p99_jct_h", "mean_idle_h",
        "mean_normalized_throughput", "tasks_per_instance", "migrations_per_task",
        "full_reconfiguration_share", "normalized_jct", "short_jobs", "long_jobs", "makespan_s",
        "throughput_jobs_h", "decision_ms_mean", "decision_ms_p99"}) {
    EXPECT_TRUE(run.at(name).is_null()) << name;
  }
  for (const char* name : {"gpu", "cpu", "memory"}) {
    EXPECT_TRUE(run.at("allocation").at(name).is_null()) << name;
  }
  EXPECT_EQ(run.at("cost_by_purpose"), json::object());
  EXPECT_EQ(run.at("not_completed"), json::array());
}

TEST(JsonReport, gives_back_every_metric_of_the_table_as_it_was) {
  std::vector<metrics::RunResult> runs = {run_of("eva", 7, 16), run_of("no-packing", 7, 32)};
  runs[0].short_jobs = metrics::ClassFigures{9, 8, 4.5, 3.5, 5, 6, 0.75};
  metrics::normalize(runs);
  const json read = json::parse(json_report(runs))["runs"];
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const metrics::Metric& metric : metrics::metric_table()) {
      if (metric.has_group && !metric.has_group(runs[i])) continue;
      std::string pointer = "/" + metric.key;
      std::replace(pointer.begin(), pointer.end(), '.', '/');
      const json& value = read[i].at(json::json_pointer(pointer));
      const std::optional<double> wanted = metric.of(runs[i]);
      ASSERT_EQ(value.is_null(), !wanted.has_value()) << metric.key;
      if (!wanted) continue;
      EXPECT_EQ(value.get<double>(), *wanted) << metric.key;
      EXPECT_EQ(value.is_number_integer(), metric.whole) << metric.key;
    }
  }
}

TEST(JsonReport, keeps_numbers_to_the_last_digit) {
  std::vector<metrics::RunResult> runs = {run_of("eva", 18'446'744'073'709'551'615u, 0.1 + 0.2)};
  const json run = json::parse(json_report(runs))["runs"][0];
  EXPECT_EQ(run.at("total_cost_usd").get<double>(), 0.1 + 0.2);
  EXPECT_EQ(run.at("seed").get<std::uint64_t>(), 18'446'744'073'709'551'615u);
}

TEST(JsonReport, without_runs_is_an_empty_list) {
  EXPECT_EQ(json::parse(json_report({})), json::parse("{\"runs\":[]}"));
}

}  // namespace
}  // namespace muster::report

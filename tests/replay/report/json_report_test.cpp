#include "replay/report/json_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "replay/metrics/metric_table.hpp"
#include "tests/replay/report/runs.hpp"
#include "tests/support/golden.hpp"

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
  EXPECT_THAT(nlohmann::ordered_json::parse(json_report(runs)).dump(1), muster::test::IsGolden());
}

TEST(JsonReport, has_the_bound_where_it_was_asked_for) {
  metrics::RunResult run = run_of("eva", 7, 16);
  run.bound_usd = 10;
  run.jobs_completed = run.jobs_submitted;
  const json bound = json::parse(json_report(std::vector{run}))["runs"][0]["bound"];
  EXPECT_EQ(bound.at("usd"), 10);
  EXPECT_DOUBLE_EQ(bound.at("above").get<double>(), 0.6);
}

TEST(JsonReport, has_an_object_of_services_where_there_are_some) {
  metrics::RunResult run = run_of("eva", 7, 16);
  run.services = {.submitted = 4, .ended = 3, .restarts = 7, .wanted_h = 200, .ready_h = 150};
  const json services = json::parse(json_report(std::vector{run}))["runs"][0]["services"];
  EXPECT_EQ(services.at("submitted"), 4);
  EXPECT_EQ(services.at("ended"), 3);
  EXPECT_EQ(services.at("restarts"), 7);
  EXPECT_EQ(services.at("ready_share"), 0.75);
  EXPECT_TRUE(services.at("goal_share").is_null());
}

TEST(JsonReport, figures_without_a_meaning_are_null) {
  const std::vector<metrics::RunResult> runs = {{}};
  const json run = json::parse(json_report(runs))["runs"][0];
  for (const char* name :
       {"normalized_cost", "mean_jct_h", "p50_jct_h", "p95_jct_h", "p99_jct_h", "mean_idle_h",
        "mean_normalized_throughput", "tasks_per_instance", "migrations_per_task",
        "full_reconfiguration_share", "normalized_jct", "short_jobs", "long_jobs", "makespan_s",
        "throughput_jobs_h", "services", "decision_ms_mean", "decision_ms_p99"}) {
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

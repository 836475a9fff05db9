#include "replay/report/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "replay/report/summary.hpp"
#include "tests/replay/report/runs.hpp"

namespace muster::report {
namespace {

using muster::test::run_of;

TEST(SummaryTable, has_one_aligned_row_a_policy_with_units_in_the_head) {
  metrics::RunResult plain = run_of("no-packing", 1, 20736.38);
  plain.notes = {};
  plain.tasks_per_instance = 1;
  const std::vector<metrics::RunResult> runs = {plain, run_of("eva,artifact=true", 1, 15248.76)};
  EXPECT_EQ(
      summary_table(runs),
      "policy                jobs       cost  of first  JCT mean   p50    p95     p99  idle  tput"
      "   tasks   gpu   cpu   mem  launched  migr.  full  rounds  decision  decision  wall\n"
      "                      done          $         %         h     h      h       h     h  of 1"
      "  /inst.     %     %     %     inst.  /task     %                ms    p99 ms     s\n"
      "no-packing         199/200  20,736.38     100.0     17.67  4.50  90.25  120.00  0.10  0.90"
      "    1.00  50.0  62.5  75.0       200   1.25     -   1,000     0.125     2.000   3.5\n"
      "eva,artifact=true  199/200  15,248.76      73.5     17.67  4.50  90.25  120.00  0.10  0.90"
      "    2.50  50.0  62.5  75.0       200   1.25  12.5   1,000     0.125     2.000   3.5\n");
}

TEST(SolverFailures, are_told_of_each_run_whose_solver_failed) {
  metrics::RunResult well = run_of("eva", 1, 100);
  metrics::RunResult broken = run_of("ilp", 2, 100);
  broken.notes.rounds_by_choice = {{"solved", 1196},
                                   {"full: the solver failed", 2},
                                   {"solved; spot: kept: the solver failed", 1},
                                   {"full: the solver failed: its output is not a solution", 1}};
  const std::vector<metrics::RunResult> runs = {well, broken};
  const std::vector<std::string> lines = solver_failures(runs);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], ::testing::StartsWith("ilp, seed 2: "));
  EXPECT_THAT(lines[0], ::testing::HasSubstr("failed in 4 of 1,200 rounds"));
}

TEST(SummaryTable, a_figure_that_no_policy_has_gets_no_column) {
  metrics::RunResult run = run_of("no-packing", 1, 100);
  run.notes = {};
  EXPECT_EQ(summary_table({&run, 1}).find("full"), std::string::npos);
}

TEST(SummaryTable, shows_classes_and_utilisation_only_when_jobs_have_classes) {
  metrics::RunResult run = run_of("no-packing", 1, 100);
  run.makespan_s = 7200;
  run.utilization[static_cast<std::size_t>(Resource::storage)] = 0.5;
  EXPECT_EQ(summary_table({&run, 1}).find("makespan"), std::string::npos);
  run.short_jobs = metrics::ClassFigures{9, 8, 4.5, 3.5, 7.25, 8, 0.75};
  run.long_jobs.emplace();
  const std::string table = summary_table({&run, 1}, 1000);
  EXPECT_NE(table.find("short   p50   p90   p99  mean      short  long    disk  makespan"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("    8  3.50  7.25  8.00  4.50       75.0     0    50.0      2.00"),
            std::string::npos)
      << table;
}

TEST(SummaryTable, shows_services_only_where_there_are_some) {
  metrics::RunResult run = run_of("no-packing", 1, 100);
  EXPECT_EQ(summary_table({&run, 1}, 1000).find("ready"), std::string::npos);
  run.services = {.submitted = 4,
                  .ended = 3,
                  .replicas = 10,
                  .restarts = 7,
                  .wanted_h = 200,
                  .ready_h = 150,
                  .goal_wanted_h = 100,
                  .goal_h = 60,
                  .measured_h = 120,
                  .performance_h = 90,
                  .held_usd = 30,
                  .right_usd = 20,
                  .cost_usd = 12.5};
  const std::string table = summary_table({&run, 1}, 1000);
  EXPECT_NE(table.find("services  ready  at goal  perf.  restarts     price  services"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("     3/4  75.00    60.00   0.75         7      1.50     12.50"),
            std::string::npos)
      << table;
}

TEST(Summary, several_runs_of_a_policy_become_mean_and_sample_standard_deviation) {
  const std::vector<metrics::RunResult> runs = {run_of("a", 1, 1000), run_of("b", 1, 5),
                                                run_of("a", 2, 1002), run_of("a", 3, 1004)};
  const Summary summary = summarize(runs);
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_EQ(summary.rows[0][0], "a");
  EXPECT_EQ(summary.rows[0][1], "597/600");
  EXPECT_EQ(summary.rows[0][2], "1,002.00 ± 2.00");
  EXPECT_EQ(summary.rows[1][2], "5.00");
}

TEST(SummaryTable, stays_aligned_with_the_plus_minus_sign) {
  const std::vector<metrics::RunResult> runs = {run_of("a", 1, 10), run_of("a", 2, 12),
                                                run_of("b", 1, 5)};
  const std::string table = summary_table(runs);
  EXPECT_NE(table.find("a       398/400  11.00 ± 1.41"), std::string::npos) << table;
  EXPECT_NE(table.find("b       199/200          5.00"), std::string::npos) << table;
}

TEST(SummaryTable, has_two_lines_a_policy_where_its_name_would_take_a_third_of_the_page) {
  const std::string name = "stratus,run_times=hinted,clearing=false,unit_s=60";
  const std::vector<metrics::RunResult> runs = {run_of(name, 1, 10), run_of("eva", 1, 5)};
  for (const std::size_t width : {80, 100, 120}) {
    const std::string table = summary_table(runs, width);
    std::istringstream lines(table);
    std::size_t heads = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), width);
      heads += line.empty() ? 1 : 0;
    }
    EXPECT_LE(heads, width == 80 ? 2u : 1u) << table;
    EXPECT_EQ(table.find("policy "), std::string::npos) << table;
    EXPECT_NE(table.find("done"), std::string::npos);
    EXPECT_NE(table.find('\n' + name + "\n  199/200 "), std::string::npos) << table;
    EXPECT_NE(table.find("\neva\n  199/200 "), std::string::npos) << table;
  }
  EXPECT_NE(summary_table(runs, 1000).find(name + "  199/200"), std::string::npos);
}

TEST(SummaryTable, goes_on_below_when_it_is_too_wide_for_a_terminal) {
  const std::string name(60, 'x');
  std::vector<metrics::RunResult> runs = {run_of(name, 1, 10)};
  const std::string table = summary_table(runs);
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kTableWidth);
  EXPECT_NE(table.find("\n\npolicy "), std::string::npos) << table;
  EXPECT_NE(table.find("wall"), std::string::npos) << table;
}

TEST(SummaryTable, fits_the_terminal_that_it_is_told_of) {
  const std::vector<metrics::RunResult> runs = {run_of("eva", 1, 10)};
  const std::string table = summary_table(runs, 60);
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60u);
  EXPECT_NE(table.find("wall"), std::string::npos) << table;
}

TEST(SummaryTable, without_runs_is_only_a_head) {
  EXPECT_EQ(summary_table({}).find("policy"), 0u);
}

}  // namespace
}  // namespace muster::report

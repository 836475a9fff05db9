#include "tools/pareto/frontier_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "replay/report/table.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/line_with.hpp"
#include "tests/tools/pareto/small_load.hpp"

namespace muster::pareto {
namespace {

using namespace test;
using muster::test::IsGolden;
using muster::test::line_with;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

FrontierReport report_of(const std::vector<double>& budgets) {
  FrontierReport report{"four <jobs>", "boa", small_load(), {}};
  report.frontier = predict_frontier(report.load, budgets, boa::PlanKind::path);
  return report;
}

std::string table_of(const FrontierReport& report) {
  return frontier_table(report, report::kTableWidth);
}

TEST(FrontierTables, HaveTheLoadAndALineABudget) {
  const std::string text = table_of(report_of({6, 100}));
  EXPECT_THAT(text, HasSubstr("four <jobs>\nboa, jobs over 2 h\n"));
  EXPECT_THAT(text, HasSubstr("net       4   2.000  3.000  6.00"));
  EXPECT_THAT(text, HasSubstr("6       6.00   12.0  18.00  36.00  10,800.0  10,800.0          -    "
                              "     -         -\n"));
  EXPECT_THAT(text, HasSubstr("4,166.7   4,166.7       6.94     51.67   4,276.7\n"))
      << "on instances of eight GPUs that take 110 s";
  EXPECT_THAT(text, Not(HasSubstr("cannot be kept")));
  EXPECT_THAT(text, Not(HasSubstr("weight")));
  EXPECT_THAT(text, Not(HasSubstr("rented")));
}

TEST(FrontierTables, SayWhichBudgetsCannotBeKeptAndWhy) {
  const std::string text = table_of(report_of({5, 6}));
  EXPECT_THAT(line_with(text, "1 of 2 budgets"), AllOf(HasSubstr("6.00 GPUs"), IsGolden()));
}

TEST(FrontierTables, SayWhichBudgetsLeaveNothingForJobsInNodes) {
  EXPECT_THAT(line_with(table_of(report_of({6, 100})), "1 of 2 budgets"), IsGolden());
  EXPECT_THAT(table_of(report_of({90, 100})), Not(HasSubstr("at once")));
}

TEST(FrontierTables, ShowWhatWasReplayedBesideWhatWasPredicted) {
  FrontierReport report = report_of({6, 100});
  report.frontier.points[1].replayed = Replayed{15.5, 50.25, 4200, 5000, 1};
  const std::string text = table_of(report);
  EXPECT_THAT(text, HasSubstr("15.5     50.25   4,200.0  5,000.0\n"));
  EXPECT_THAT(line_with(text, "100 GPUs"), AllOf(HasSubstr(" 1 job "), IsGolden()));
}

TEST(FrontierTables, ShowWeightsWhereThereAreAny) {
  FrontierReport report = report_of({6});
  report.load.classes[0].work.weight = 2;
  EXPECT_THAT(table_of(report), HasSubstr("weight"));
}

TEST(FrontierJson, HasEverything) {
  FrontierReport report = report_of({5, 6});
  report.frontier.points[1].replayed = Replayed{15.5, 50.25, 4200, 5000, 0};
  const json all = json::parse(frontier_json(report));
  EXPECT_EQ(all["policy"], "boa");
  EXPECT_NEAR(all["load"]["load_gpus"].get<double>(), 6, 1e-9);
  EXPECT_EQ(all["load"]["classes"][0]["class"], "net");
  EXPECT_NEAR(all["least_budget_gpus"].get<double>(), 6, 1e-9);
  EXPECT_TRUE(all["points"][0]["predicted"].is_null());
  EXPECT_NEAR(all["points"][1]["predicted"]["usd"].get<double>(), 36, 1e-9);
  EXPECT_EQ(all["points"][1]["replayed"]["rented_gpu_h"], 15.5);
}

TEST(FrontierReports, ShowTypesWhereTheyWereAskedFor) {
  FrontierReport report = report_of({6, 12});
  EXPECT_THAT(table_of(report), Not(HasSubstr("all types")));
  report.load.types = {{"slow", 3, 1}, {"fast", 12, 3}};
  predict_types(report.load, {}, report.frontier);
  EXPECT_THAT(line_with(table_of(report), "dollars"), IsGolden());
  EXPECT_THAT(table_of(report), HasSubstr("36.00   4,166.7    1,388.9  0.00  2.31"));
  EXPECT_THAT(frontier_html(report), HasSubstr("all types"));
  const json all = json::parse(frontier_json(report));
  EXPECT_EQ(all["load"]["types"][1]["speed"], 3);
  EXPECT_NEAR(all["points"][0]["typed"]["gpus"][0].get<double>(), 6, 1e-9);
}

TEST(FrontierPages, StandByThemselvesAndLetNoTextBreakOut) {
  const std::string page = frontier_html(report_of({5, 6}));
  EXPECT_THAT(page, HasSubstr("<h1>four &lt;jobs&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("\"gpu_h\":"));
  EXPECT_THAT(page, HasSubstr("cannot be kept"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(BudgetTexts, SayWhatTheBudgetGivesAndCosts) {
  FrontierReport report = report_of({6});
  EXPECT_THAT(budget_text(report, 12000), IsGolden());
  report.frontier.points[0].in_nodes = InNodes{7.75, 6.125, 0.125, 1.5, 15.5, 46.5, 11000, 11000};
  const std::string text = budget_text(report, 12000);
  for (const char* figure :
       {"budget 6.000 GPUs", "10800.0 s", "12000.0 s", "6.00 GPUs", "12.0 GPU-hours", "$18.00",
        "$36.00", "7.75 GPUs", "0.12 ", "1.50 ", "15.5 GPU-hours", "$46.50"}) {
    EXPECT_THAT(text, HasSubstr(figure));
  }
  EXPECT_THAT(text, IsGolden());
  const json all = json::parse(budget_json(report, 12000));
  EXPECT_EQ(all["target_s"], 12000);
  EXPECT_EQ(all["budget"]["budget_gpus"], 6);
  EXPECT_EQ(all["budget"]["in_nodes"]["rented_gpus"], 7.75);
}

}  // namespace
}  // namespace muster::pareto

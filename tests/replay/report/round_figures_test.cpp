#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "replay/metrics/measure.hpp"
#include "replay/report/html_report.hpp"
#include "replay/report/json_report.hpp"
#include "replay/report/table.hpp"
#include "tests/replay/metrics/log_builder.hpp"

namespace muster::report {
namespace {

using muster::test::LogBuilder;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// Runs of two policies; the notes of the first have figures that nothing in the project knows.
std::vector<metrics::RunResult> runs() {
  LogBuilder log;
  log.at(1).add(RoundDecided{1, {"wide", {{"fallow_share", 0.25}, {"haste_usd_h", 7}, {"z", 1}}}});
  log.at(2).add(RoundDecided{2, {"narrow", {{"fallow_share", 0.75}, {"z", 4}}}});
  std::vector<metrics::RunResult> both = {
      metrics::measure(log.events(), log.catalog()),
      metrics::measure(LogBuilder().at(1).round(1, "").events(), log.catalog())};
  both[0].policy = "own";
  both[1].policy = "plain";
  return both;
}

TEST(RoundFigures, that_end_in_a_unit_get_columns_by_being_in_a_note) {
  const std::string table = summary_table(runs(), 1000);
  EXPECT_THAT(table, HasSubstr("wall  fallow  haste\n"));
  EXPECT_THAT(table, HasSubstr("   s       %    $/h\n"));
  EXPECT_THAT(table, HasSubstr(" 0.0    50.0   7.00\n")) << table;
  EXPECT_THAT(table, HasSubstr(" 0.0       -      -\n")) << table;
  EXPECT_THAT(html_report("x", runs()), HasSubstr("<th>fallow<small>%</small></th>"));
}

TEST(RoundFigures, without_a_unit_in_their_names_stay_out_of_the_table) {
  EXPECT_THAT(summary_table(runs(), 1000), Not(HasSubstr(" z")));
}

TEST(RoundFigures, are_all_in_the_json_with_the_choices) {
  const json own = json::parse(json_report(runs()))["runs"][0];
  EXPECT_EQ(own["rounds_by_choice"], json::parse(R"({"wide": 1, "narrow": 1})"));
  EXPECT_EQ(own["round_figures"],
            json::parse(R"({"fallow_share": {"rounds": 2, "mean": 0.5, "min": 0.25, "max": 0.75},
                            "haste_usd_h": {"rounds": 1, "mean": 7.0, "min": 7.0, "max": 7.0},
                            "z": {"rounds": 2, "mean": 2.5, "min": 1.0, "max": 4.0}})"));
  const json plain = json::parse(json_report(runs()))["runs"][1];
  EXPECT_EQ(plain["rounds_by_choice"], json::object());
  EXPECT_EQ(plain["round_figures"], json::object());
}

}  // namespace
}  // namespace muster::report

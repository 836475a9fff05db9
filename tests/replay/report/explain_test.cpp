#include "replay/report/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/replay/metrics/log_builder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster::report {
namespace {

using muster::test::IsGolden;
using muster::test::JobBuilder;
using muster::test::LogBuilder;
using muster::test::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Task 1 waits, gets instance 1, and moves to instance 2, where task 2 is.
LogBuilder moving() {
  const Refusal capped{RefusalKind::not_now, RefusalCode::instance_cap, {}, 3, 2};
  LogBuilder log;
  log.at(12).accept(JobBuilder(1).workload_class("vit"));
  log.at(300).round(1, "").refuse(1, capped);
  log.at(600).round(2, "partial").launch(1, "it4", {CauseCode::alone, 0.1});
  log.assign(1, 1, {CauseCode::alone, 0.1});
  log.at(610).up(1).at(710).ready(1).start(1, 1);
  log.at(725).started(1);
  log.at(800).accept(JobBuilder(2)).boot(2, "it3").assign(2, 2).start(2, 2).started(2);
  log.at(98'400).round(3, "full").assign(1, 2, {CauseCode::full_reconfiguration, 0.25}).stop(1);
  log.release(1);
  log.at(98'405).left(1).start(1, 2, 2).terminate(1);
  log.at(98'406).gone(1);
  log.at(98'420).started(1, 2);
  log.at(102'020).finish(1, 2).end(1, 0.9, 3).finish(2).end(2).terminate(2);
  log.at(102'021).gone(2);
  return log;
}

TEST(ExplainTask, tells_the_whole_story_with_causes_numbers_and_company) {
  const LogBuilder log = moving();
  const auto explanation = explain_task(log.events(), log.catalog(), TaskId{1});
  ASSERT_TRUE(explanation) << explanation.error().message;
  const std::string text = to_text(explanation.value());
  for (const char* figure :
       {"27.17 h", "$10.87", "27.14 h", "28.12 h", "$22.49", "60 min 15 s", "0.900"}) {
    EXPECT_THAT(text, HasSubstr(figure));
  }
  EXPECT_THAT(text, IsGolden());
}

TEST(ExplainTask, gives_the_same_story_as_json) {
  const LogBuilder log = moving();
  const auto explanation = explain_task(log.events(), log.catalog(), TaskId{1});
  const auto json = nlohmann::json::parse(to_json(explanation.value()));
  EXPECT_EQ(json["title"], "task 1 (job-1) of job 1");
  ASSERT_EQ(json["lines"].size(), 13u);
  const auto& refusal = json["lines"][1];
  EXPECT_EQ(refusal["what"], "waits");
  EXPECT_EQ(refusal["asked"], 3);
  EXPECT_EQ(refusal["available"], 2);
  const auto& move = json["lines"][6];
  EXPECT_EQ(move["what"], "moved");
  EXPECT_EQ(move["t_s"], 98'400);
  EXPECT_EQ(move["time"], "day 1 03:20:00");
  EXPECT_EQ(move["from"], 1);
  EXPECT_EQ(move["to"], 2);
  EXPECT_EQ(move["gain_usd_h"], 0.25);
  EXPECT_EQ(move["others"], nlohmann::json::parse("[2]"));
  EXPECT_EQ(json["costs"][0]["instance"], 1);
  EXPECT_EQ(json["costs"][0]["held_s"], 98'405 - 710);
}

TEST(ExplainInstance, tells_its_launch_its_tasks_and_its_cost) {
  const LogBuilder log = moving();
  const auto explanation = explain_instance(log.events(), log.catalog(), InstanceId{1});
  ASSERT_TRUE(explanation) << explanation.error().message;
  EXPECT_THAT(to_text(explanation.value()),
              AllOf(HasSubstr("27.17 h"), HasSubstr("$10.87"), IsGolden()));
}

TEST(ExplainTask, tells_of_failures_and_lost_instances) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1)).boot(1, "it4").assign(1, 1).start(1, 1).started(1);
  log.at(10).fail(1, "exit 1").assign(1, 1).start(1, 1, 2).started(1, 2);
  log.at(20).gone(1);
  const auto explanation = explain_task(log.events(), log.catalog(), TaskId{1});
  const auto& lines = explanation.value().lines;
  std::vector<std::string> what;
  for (const ExplanationLine& line : lines) what.push_back(line.what);
  EXPECT_THAT(what, testing::ElementsAre("accepted", "placed", "starts", "runs", "failed", "placed",
                                         "starts", "runs", "lost"));
  EXPECT_EQ(lines[4].text, "attempt 1 fails: exit 1");
}

TEST(ExplainTask, the_same_refusal_round_after_round_is_one_line) {
  const Refusal capped{RefusalKind::not_now, RefusalCode::instance_cap, {}, 3, 2};
  const Refusal crowded{RefusalKind::not_now, RefusalCode::over_capacity, Resource::cpu, 3, 2};
  LogBuilder log;
  log.at(12).accept(JobBuilder(1));
  for (std::uint64_t round = 1; round <= 4; ++round) {
    log.at(300.0 * static_cast<double>(round)).round(round, "");
    log.add(PlanPartRefused{TaskId{1}, {}, capped});
    if (round == 1) log.refuse(1, capped);  // a reason is told when it changes
  }
  log.at(1500).round(5, "").add(PlanPartRefused{TaskId{1}, {}, crowded}).refuse(1, crowded);
  const auto explanation = explain_task(log.events(), log.catalog(), TaskId{1});
  ASSERT_TRUE(explanation);
  const std::string text = to_text(explanation.value());
  ASSERT_EQ(explanation->lines.size(), 3u) << text;
  EXPECT_THAT(text, IsGolden());
  EXPECT_THAT(explanation->lines[2].text,
              testing::HasSubstr("over capacity (cpu: asked 3, available 2)"));
  const auto json = nlohmann::json::parse(to_json(explanation.value()));
  EXPECT_EQ(json["lines"][1]["times"], 4);
  EXPECT_EQ(json["lines"][1]["last_s"], 1200);
  EXPECT_FALSE(json["lines"][2].contains("times"));
}

TEST(Explain, an_unknown_id_is_an_error_with_the_ids_there_are) {
  const LogBuilder log = moving();
  EXPECT_THAT(
      message_of(explain_task(log.events(), log.catalog(), TaskId{99}), ExplainError::unknown_id),
      IsGolden());
  EXPECT_THAT(message_of(explain_instance(log.events(), log.catalog(), InstanceId{0}),
                         ExplainError::unknown_id),
              IsGolden());
  EXPECT_THAT(message_of(explain_task({}, log.catalog(), TaskId{1}), ExplainError::unknown_id),
              IsGolden());
}

TEST(ExplainInstance, one_that_was_refused_costs_nothing) {
  LogBuilder log;
  log.at(0).launch(1, "it4").at(5).add(
      LaunchRefused{InstanceId{1}, {RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0}});
  const auto explanation = explain_instance(log.events(), log.catalog(), InstanceId{1});
  EXPECT_EQ(explanation.value().lines.back().what, "launch refused");
  EXPECT_THAT(explanation.value().lines.back().text, IsGolden());
  EXPECT_EQ(explanation.value().costs[0].text, "instance 1 (it4) at $0.4/h was never up: $0.00");
}

TEST(ExplainInstance, tells_what_it_costs_when_prices_change_and_why_it_is_gone) {
  LogBuilder log;
  log.at(0).launch(1, "it4").at(100).up(1);
  log.at(1900).add(OfferingChanged{
      {1, test::at_s(1900), {"it4", Market::on_demand, "", Price::from_usd_h(0.8), true, 0}}});
  log.at(2000).add(OfferingChanged{
      {2, test::at_s(2000), {"it4", Market::spot, "", Price::from_usd_h(9), true, 0}}});
  log.at(3700).add(InstanceGone{InstanceId{1}, {}, CloudReason::reclaimed});
  const auto explanation = explain_instance(log.events(), log.catalog(), InstanceId{1});
  const auto& lines = explanation.value().lines;
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[2].what, "price changed");
  EXPECT_TRUE(lines[2].text.starts_with("costs $0.8/h from ")) << lines[2].text;
  EXPECT_EQ(lines[3].what, "gone");
  EXPECT_THAT(lines[3].text, IsGolden());
  const std::string& cost = explanation.value().costs[0].text;
  EXPECT_TRUE(cost.starts_with("instance 1 (it4) at $0.8/h ($0.4/h at first) was up for")) << cost;
  EXPECT_TRUE(cost.ends_with(": $0.60")) << cost;
}

TEST(ExplainTask, tells_the_reason_of_the_cloud) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1)).launch(1, "it4").assign(1, 1);
  log.at(5).add(LaunchRefused{InstanceId{1},
                              {RefusalKind::not_now, RefusalCode::cloud_quota, {}, 1, 0},
                              CloudReason::quota});
  const auto explanation = explain_task(log.events(), log.catalog(), TaskId{1});
  EXPECT_EQ(explanation.value().lines.back().what, "launch refused");
  EXPECT_THAT(explanation.value().lines.back().text, IsGolden());
}

TEST(ExplainTask, tells_how_far_an_elastic_job_was_when_it_got_another_width) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1).elastic(1, 4));
  const Cause plan{CauseCode::width_plan, 0};
  log.at(5).add(JobResized{JobId{1}, 2, plan});
  log.at(9).add(Measured{{}, 0, {{TaskId{1}, 120.5, {}}}});
  log.at(10).add(JobResized{JobId{1}, 3, plan});
  const auto explanation = explain_task(log.events(), log.catalog(), TaskId{101});
  ASSERT_TRUE(explanation) << explanation.error().message;
  ASSERT_EQ(explanation->lines.size(), 3U);
  EXPECT_EQ(explanation->lines[1].what, "resized");
  EXPECT_THAT(explanation->lines[1].text, IsGolden());
  EXPECT_EQ(explanation->lines[2].what, "resized");
  EXPECT_THAT(explanation->lines[2].text, AllOf(HasSubstr("120.5"), IsGolden()));
}

}  // namespace
}  // namespace muster::report

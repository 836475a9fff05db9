// What a round decided, as the sentence that the API and the page show.
#include "serve/node/decision_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/golden.hpp"

namespace muster {
namespace {
using test::IsGolden;
using testing::AllOf;
using testing::HasSubstr;

TEST(DecisionText, says_what_a_full_reconfiguration_does_and_what_it_is_worth) {
  DecisionView decision;
  decision.choice = "full";
  decision.launches = 1;
  decision.moves = 2;
  decision.figures = {{"S_F", 0.12}, {"M_F", 0.007983}, {"D", 5400}};
  EXPECT_THAT(details_of(decision),
              AllOf(HasSubstr("$0.1200"), HasSubstr("$0.0080"), HasSubstr("1.5 h"), IsGolden()));
}

TEST(DecisionText, names_a_choice_and_a_figure_that_it_does_not_know_as_the_policy_does) {
  DecisionView decision;
  decision.choice = "by moonlight";
  decision.figures = {{"tide_m", 2.5}};
  decision.releases = 3;
  EXPECT_EQ(details_of(decision), "Chooses \"by moonlight\": releases 3 instances; tide m 2.5.");
}

TEST(DecisionText, shows_a_figure_of_zero_that_it_has_no_words_for) {
  DecisionView decision;
  decision.figures = {{"tide_m", 0}};
  EXPECT_THAT(details_of(decision), IsGolden());
}

TEST(DecisionText, names_the_sizes_of_services_by_cores_and_memory) {
  DecisionView decision;
  decision.choice = "event; services";
  decision.placements = 1;
  decision.figures = {{"services_placed", 1},           {"services_rented", 0},
                      {"services_number_at_3_of_9", 0}, {"services_at_cores_of_9", 4},
                      {"services_at_gib_of_9", 8},      {"services_size_of_9", 3},
                      {"services_size_cores_of_9", 4},  {"services_size_gib_of_9", 8},
                      {"services_trial_of_9", 0},       {"services_trial_cores_of_9", 1},
                      {"services_trial_gib_of_9", 0.25}};
  EXPECT_THAT(details_of(decision), IsGolden());
}

TEST(DecisionText, says_that_a_size_was_tried_in_vain) {
  DecisionView decision;
  decision.figures = {{"services_failed_at_0_of_9", 1},  {"services_at_cores_of_9", 1},
                      {"services_at_gib_of_9", 0.5},     {"services_size_of_9", 2},
                      {"services_size_cores_of_9", 2},   {"services_size_gib_of_9", 1},
                      {"services_absent_at_1_of_10", 1}, {"services_size_of_10", 2},
                      {"services_goes_on_of_10", 1}};
  EXPECT_THAT(details_of(decision), IsGolden())
      << "notes of earlier versions have the numbers of sizes alone";
}

TEST(DecisionText, says_how_many_replicas_of_a_service_an_instance_may_hold) {
  DecisionView decision;
  decision.figures = {{"services_together_1_of_9", 0.8},   {"services_together_cores_of_9", 2},
                      {"services_together_gib_of_9", 4},   {"services_limit_of_9", 0},
                      {"services_together_2_of_9", 0.712}, {"services_together_cores_of_9", 2},
                      {"services_together_gib_of_9", 4},   {"services_limit_of_9", 1}};
  EXPECT_THAT(details_of(decision), IsGolden());
}

TEST(DecisionText, leaves_out_figures_of_zero) {
  DecisionView decision;
  decision.choice = "repartition";
  decision.releases = 1;
  decision.figures = {{"value_usd_h", 0}, {"steps", 46}};
  EXPECT_THAT(details_of(decision), AllOf(HasSubstr("46 steps"), IsGolden()));
}

TEST(DecisionText, says_that_a_round_goes_on_and_not_that_one_is_held_again) {
  DecisionView decision;
  decision.choice = "event";
  decision.figures = {{"again", 1}, {"spot again", 1}};
  EXPECT_THAT(details_of(decision), IsGolden());
  decision.figures = {{"again", 2}};
  EXPECT_THAT(details_of(decision), IsGolden());
}

TEST(DecisionText, is_whole_without_choice_and_figures) {
  EXPECT_EQ(details_of({}), "Decides: changes nothing.");
}

TEST(DecisionText, tells_what_is_of_spot_instances) {
  DecisionView decision;
  decision.choice = "full; spot: partial";
  decision.placements = 1;
  decision.figures = {{"spot M_P", 12}};
  EXPECT_THAT(details_of(decision), AllOf(HasSubstr("$12.00"), IsGolden()));
}

TEST(DecisionText, has_words_for_an_amount_that_is_none) {
  DecisionView decision;
  decision.figures = {{"M_F", std::numeric_limits<double>::infinity()}, {"packed", 0.25}};
  EXPECT_THAT(details_of(decision), AllOf(HasSubstr("25 %"), IsGolden()));
}

ChangeView change_of(ChangeKind kind, std::uint32_t tasks = 0) {
  ChangeView change;
  change.change = kind;
  change.instance = InstanceId{5};
  change.instance_type = "c7i.large";
  change.market = Market::spot;
  change.why = "sharing an instance costs less";
  if (tasks > 0) {
    change.job = JobId{4};
    change.name = "count";
    change.tasks = tasks;
    change.task = 2;
  }
  return change;
}

TEST(DecisionText, names_jobs_and_instances_and_says_a_common_reason_once) {
  DecisionView decision;
  decision.changes = {change_of(ChangeKind::rent), change_of(ChangeKind::place, 3),
                      change_of(ChangeKind::give_back)};
  decision.changes[0].usd_h = 0.0357;
  decision.changes[2].instance = InstanceId{3};
  decision.changes[2].why = "no task is left on it";
  EXPECT_THAT(sentence_of(decision), AllOf(HasSubstr("$0.0357"), IsGolden()));
}

TEST(DecisionText, has_words_for_every_change) {
  std::string all;
  for (std::size_t i = 0; i < kEnumerators<ChangeKind>; ++i) {
    DecisionView decision;
    decision.changes = {change_of(static_cast<ChangeKind>(i), 1)};
    decision.changes[0].from = InstanceId{3};
    decision.changes[0].width = 3;
    all += sentence_of(decision) + "\n";
  }
  DecisionView decision;
  decision.changes = {change_of(ChangeKind::stop, 1)};
  all += sentence_of(decision) + "\n";
  EXPECT_THAT(all, IsGolden());
}

TEST(DecisionText, counts_the_changes_that_it_does_not_name) {
  DecisionView decision;
  decision.changes.assign(12, change_of(ChangeKind::place, 1));
  decision.changes_left_out = 7;
  EXPECT_THAT(sentence_of(decision), AllOf(HasSubstr("9 further changes"), IsGolden()));
}

TEST(DecisionText, counts_the_changes_of_a_master_that_names_none) {
  DecisionView decision;
  decision.launches = 2;
  EXPECT_EQ(sentence_of(decision), "Launches 2 instances.");
}

}  // namespace
}  // namespace muster

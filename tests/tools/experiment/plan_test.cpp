#include "tools/experiment/plan.hpp"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::experiment {
namespace {

using muster::test::IsGolden;
using muster::test::message_of;
using test::TempFile;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Expected<Plan, ExperimentError> plan_of(const std::string& grid, const PlanLimits& limits = {}) {
  const TempFile file("study.toml", "[[grid]]\nname = \"g\"\nconfig = \"a.toml\"\n" + grid);
  const auto loaded = load_experiment(file.path());
  if (!loaded) return loaded.error();
  return lay_out(loaded.value(), limits);
}

/// "policy [labels] seed: overrides" of each run.
std::vector<std::string> runs_of(const Expected<Plan, ExperimentError>& plan) {
  if (!plan) return {plan.error().message};
  std::vector<std::string> runs;
  for (const PlannedRun& planned : plan->runs) {
    runs.push_back(fmt::format("{} [{}] {}: {}", planned.policy,
                               to_text(plan->points[planned.point].labels), planned.seed,
                               fmt::join(planned.overrides, " ")));
  }
  return runs;
}

TEST(Plan, has_every_combination_with_every_seed) {
  EXPECT_THAT(runs_of(plan_of("policy = [\"eva\", \"muster\"]\nseeds = \"1-2\"\n"
                              "[grid.set]\nworkload.max_jobs = [5, 6]\n")),
              ElementsAre("eva [workload.max_jobs=5] 1: workload.max_jobs=5",
                          "eva [workload.max_jobs=5] 2: workload.max_jobs=5",
                          "muster [workload.max_jobs=5] 1: workload.max_jobs=5",
                          "muster [workload.max_jobs=5] 2: workload.max_jobs=5",
                          "eva [workload.max_jobs=6] 1: workload.max_jobs=6",
                          "eva [workload.max_jobs=6] 2: workload.max_jobs=6",
                          "muster [workload.max_jobs=6] 1: workload.max_jobs=6",
                          "muster [workload.max_jobs=6] 2: workload.max_jobs=6"));
}

TEST(Plan, has_no_label_for_what_does_not_vary) {
  EXPECT_THAT(runs_of(plan_of("policy = \"eva\"\n[grid.set]\nworkload.max_jobs = 5\n")),
              ElementsAre("eva [] 1: workload.max_jobs=5"));
}

TEST(Plan, fills_names_in_and_leaves_other_braces_alone) {
  EXPECT_THAT(runs_of(plan_of("policy = [\"eva\", \"muster,theta={theta}\"]\n"
                              "[grid.set]\ncloud.max_by_type = \"{ \\\"p3\\\" = {seed} }\"\n"
                              "[grid.values]\ntheta = [0.5, 2]\n")),
              ElementsAre("eva [theta=0.5] 1: cloud.max_by_type={ \"p3\" = 1 }",
                          "muster,theta=0.5 [theta=0.5] 1: cloud.max_by_type={ \"p3\" = 1 }",
                          "eva [theta=2] 1: cloud.max_by_type={ \"p3\" = 1 }",
                          "muster,theta=2 [theta=2] 1: cloud.max_by_type={ \"p3\" = 1 }"));
}

TEST(Plan, leaves_the_variable_that_a_path_begins_with_to_the_config) {
  EXPECT_THAT(runs_of(plan_of("policy = \"eva\"\n[grid.set]\n"
                              "workload.path = \"${MUSTER_DATA}/{day}.csv\"\n"
                              "[grid.values]\nday = [7]\n")),
              ElementsAre("eva [] 1: workload.path=${MUSTER_DATA}/7.csv"));
}

TEST(Plan, knows_which_points_are_one_policy_of_the_file) {
  const auto plan = plan_of("policy = \"muster,theta={theta}\"\n[grid.values]\ntheta = [1, 2]\n");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->points[0].policy, "muster,theta=1");
  EXPECT_EQ(plan->points[1].policy, "muster,theta=2");
  EXPECT_EQ(plan->points[1].family, "muster,theta={theta}");
}

TEST(Plan, says_which_names_there_are_when_one_is_unknown) {
  const auto plan = plan_of("policy = \"muster,theta={teta}\"\n[grid.values]\ntheta = [1, 2]\n");
  EXPECT_THAT(message_of(plan, ExperimentError::invalid),
              AllOf(HasSubstr("{teta}"), HasSubstr("'theta'"), IsGolden()));
}

TEST(Plan, sets_what_a_variant_and_a_seed_say) {
  EXPECT_THAT(
      runs_of(plan_of("policy = \"eva\"\nseeds = [4, 9]\n"
                      "[grid.each_seed]\ncloud.notice = [\"1s\", \"2s\"]\n"
                      "[[grid.variant]]\nname = \"few\"\nset = { workload.max_jobs = 5 }\n"
                      "[[grid.variant]]\nname = \"all\"\n")),
      ElementsAre("eva [variant=few] 4: workload.max_jobs=5 cloud.notice=1s",
                  "eva [variant=few] 9: workload.max_jobs=5 cloud.notice=2s",
                  "eva [variant=all] 4: cloud.notice=1s", "eva [variant=all] 9: cloud.notice=2s"));
}

TEST(Plan, fills_in_what_a_variant_says_names_stand_for) {
  EXPECT_THAT(
      runs_of(plan_of("policy = [\"muster,theta={theta}\"]\n"
                      "[grid.set]\nworkload.max_jobs = \"{jobs}\"\n"
                      "[[grid.variant]]\nname = \"few\"\nvalues = {jobs = 5, theta = 1}\n"
                      "[[grid.variant]]\nname = \"all\"\nvalues = {jobs = 9, theta = 2}\n")),
      ElementsAre("muster,theta=1 [variant=few] 1: workload.max_jobs=5",
                  "muster,theta=2 [variant=all] 1: workload.max_jobs=9"));
}

TEST(Plan, says_which_names_a_variant_leaves_open) {
  const auto plan = plan_of(
      "policy = \"muster,theta={theta}\"\n"
      "[[grid.variant]]\nname = \"a\"\nvalues = {theta = 1}\n"
      "[[grid.variant]]\nname = \"b\"\n");
  EXPECT_THAT(message_of(plan, ExperimentError::invalid), AllOf(HasSubstr("{theta}"), IsGolden()));
}

TEST(Plan, leaves_out_what_is_skipped) {
  EXPECT_THAT(runs_of(plan_of("policy = [\"eva\", \"muster\"]\nseeds = \"1-2\"\n"
                              "[grid.set]\nworkload.max_jobs = [5, 6]\n"
                              "[[grid.skip]]\npolicy = \"eva\"\nworkload.max_jobs = 6\n"
                              "[[grid.skip]]\nseed = 2\nworkload.max_jobs = [5, 6]\n")),
              ElementsAre("eva [workload.max_jobs=5] 1: workload.max_jobs=5",
                          "muster [workload.max_jobs=5] 1: workload.max_jobs=5",
                          "muster [workload.max_jobs=6] 1: workload.max_jobs=6"));
}

TEST(Plan, takes_what_a_call_adds) {
  EXPECT_THAT(runs_of(plan_of("policy = \"eva\"\nseeds = \"1-9\"\n",
                              {.overrides = {"workload.max_jobs=3"}, .seeds = {{2, 20}}})),
              ElementsAre("eva [] 2: workload.max_jobs=3"));
}

TEST(Plan, compares_with_the_first_policy_at_the_same_place) {
  const auto plan =
      plan_of("policy = [\"eva\", \"muster\"]\n[grid.set]\nworkload.max_jobs = [5, 6]\n");
  ASSERT_TRUE(plan);
  std::vector<std::size_t> baselines;
  for (const Point& point : plan->points) baselines.push_back(point.baseline.value_or(99));
  EXPECT_THAT(baselines, ElementsAre(0, 0, 2, 2));
}

TEST(Plan, refuses_a_baseline_that_nobody_runs) {
  const TempFile file("study.toml",
                      "[experiment]\nbaseline = \"evo\"\n[[grid]]\n"
                      "config = \"a.toml\"\npolicy = [\"eva\", \"muster\"]\n");
  const auto plan = lay_out(load_experiment(file.path()).value(), {});
  EXPECT_THAT(message_of(plan, ExperimentError::invalid),
              AllOf(HasSubstr("'evo'"), HasSubstr("'eva'"), IsGolden()));
}

TEST(Plan, refuses_grids_without_runs_and_such_with_too_many) {
  EXPECT_THAT(message_of(plan_of("policy = \"eva\"\n[[grid.skip]]\npolicy = \"eva\"\n"),
                         ExperimentError::invalid),
              IsGolden());
  EXPECT_THAT(
      plan_of("policy = [\"eva\", \"muster\", \"hcoop\", \"a\", \"b\", \"c\", \"d\", \"e\", "
              "\"f\", \"g\", \"h\"]\nseeds = \"1-10000\"\n")
          .error()
          .message,
      HasSubstr("makes 110000 runs"));
}

TEST(Plan, tells_replay_all_of_a_run) {
  const PlannedRun planned{.point = 0,
                           .seed = 7,
                           .config = "a.toml",
                           .policy = "eva,t=1",
                           .overrides = {"workload.max_jobs=3"}};
  EXPECT_THAT(
      replay_arguments(planned),
      ElementsAre("replay", "a.toml", "--policy", "eva,t=1", "--seed", "7", "--set",
                  "workload.max_jobs=3", "--set", "trials=1", "--threads", "1", "--json", "-"));
}

}  // namespace
}  // namespace muster::experiment

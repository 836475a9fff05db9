#include "tools/experiment/experiment_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::experiment {
namespace {

using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using test::TempFile;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Expected<Experiment, ExperimentError> load(const std::string& content) {
  const TempFile file("study.toml", content);
  return load_experiment(file.path());
}

/// What is wrong with a grid that has these lines too, from line 4 on.
std::string fault_of(const std::string& more) {
  const auto loaded = load("[[grid]]\nconfig = \"a.toml\"\npolicy = \"eva\"\n" + more);
  return message_of(loaded, ExperimentError::invalid);
}

TEST(ExperimentFile, says_what_is_to_be_run) {
  const auto loaded = load(R"(
    [experiment]
    name = "markets"
    about = "which policy on which market"
    baseline = "eva"
    metrics = ["total_cost_usd", "lost_work_h", "round_figures.full_s"]
    [[grid]]
    name = "spot"
    config = ["../a.toml", "b.toml"]
    policy = ["eva", "muster,theta={theta}"]
    seeds = [3, 1]
    [grid.set]
    cloud.notice = "2min"
    "workload.max_jobs" = [10, 20]
    [grid.values]
    theta = [0.5, 1]
    [grid.each_seed]
    cloud.interruptions_per_h = [0.1, 0.2]
    [[grid.variant]]
    name = "long"
    set = { "world.quantum" = "1s" }
    [[grid.skip]]
    policy = "eva"
    theta = 1
  )");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->name, "markets");
  EXPECT_EQ(loaded->baseline, "eva");
  EXPECT_EQ(loaded->metrics.size(), 3u);
  const Grid& grid = loaded->grids.at(0);
  EXPECT_EQ(grid.name, "spot");
  EXPECT_EQ(grid.configs.at(0), loaded->file.parent_path().parent_path() / "a.toml");
  EXPECT_THAT(grid.policies, ElementsAre("eva", "muster,theta={theta}"));
  EXPECT_THAT(grid.seeds, ElementsAre(3, 1));
  EXPECT_EQ(grid.set.at(0).name, "cloud.notice");
  EXPECT_THAT(grid.set.at(0).values, ElementsAre("2min"));
  EXPECT_EQ(grid.set.at(1).name, "workload.max_jobs");
  EXPECT_THAT(grid.set.at(1).values, ElementsAre("10", "20"));
  EXPECT_THAT(grid.each_seed.at(0).values, ElementsAre("0.1", "0.2"));
  EXPECT_EQ(grid.variants.at(0).set.at(0).second, "1s");
  EXPECT_THAT(grid.skips.at(0).where.at(1).values, ElementsAre("1"));
}

TEST(ExperimentFile, is_called_by_its_name_and_compares_with_the_first_policy_unless_it_says) {
  const auto loaded = load("[[grid]]\nconfig = \"a.toml\"\npolicy = \"eva\"\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->name, "study");
  EXPECT_EQ(loaded->baseline, "");
  EXPECT_THAT(loaded->grids.at(0).seeds, ElementsAre(1));
  EXPECT_EQ(loaded->grids.at(0).name, "grid 1");
}

TEST(ExperimentFile, names_the_place_of_an_unknown_key_and_what_was_meant) {
  EXPECT_THAT(fault_of("seed = \"1-3\"\n"), IsGoldenAt("study.toml:4:1: seed"));
  EXPECT_THAT(message_of(load("[experiment]\nbase = \"eva\"\n"), ExperimentError::invalid),
              IsGoldenAt("study.toml:2:1: base"));
  EXPECT_THAT(load("[[grids]]\n").error().message, HasSubstr("did you mean 'grid'?"));
}

TEST(ExperimentFile, names_the_place_of_a_wrong_value_and_what_would_be_right) {
  EXPECT_THAT(fault_of("seeds = \"3-1\"\n"), IsGoldenAt("study.toml:4:9: seeds"));
  EXPECT_THAT(fault_of("seeds = [1, \"2\"]\n"), IsGoldenAt("study.toml:4:9: seeds"));
  EXPECT_THAT(fault_of("set = 3\n"), IsGoldenAt("study.toml:4:7: set"));
  EXPECT_THAT(fault_of("[grid.set]\nworkload.max_jobs = [1, 1]\n"),
              IsGoldenAt("workload.max_jobs"));
  EXPECT_THAT(fault_of("[grid.set]\nseed = 2\n"), HasSubstr("set.seed: cannot be set"));
  EXPECT_THAT(fault_of("seeds = \"1-2\"\n[grid.each_seed]\ncatalog = [\"a\"]\n"),
              IsGoldenAt("study.toml:6:1: each_seed.catalog"));
  EXPECT_THAT(fault_of("[[grid.skip]]\npolcy = \"eva\"\n"),
              IsGoldenAt("study.toml:5:1: skip.polcy"));
  EXPECT_THAT(fault_of("[grid.values]\nn = 1\n[[grid.variant]]\nname = \"a\"\n"
                       "values = {n = 2}\n"),
              IsGoldenAt("variant.values.n"));
  EXPECT_THAT(fault_of("[[grid.variant]]\nname = \"a\"\nvalues = {n = [1, 2]}\n"),
              IsGoldenAt("variant.values.n"));
  EXPECT_THAT(fault_of("[[grid.variant]]\nname = \"a\"\n[[grid.variant]]\nname = \"a\"\n"),
              IsGoldenAt("variant.name"));
  EXPECT_THAT(fault_of("[[grid.variant]]\nname = \"a\"\nvalues = {n = 1}\n"),
              IsGoldenAt("variant.values.n"));
  EXPECT_THAT(load("[experiment]\nmetrics = [\"cost\"]\n").error().message,
              HasSubstr("unknown metric 'cost'"));
}

TEST(ExperimentFile, lets_seeds_share_a_value) {
  EXPECT_EQ(fault_of("seeds = \"1-3\"\n[grid.each_seed]\ncatalog = [\"a\", \"b\", \"a\"]\n"),
            "no error");
}

TEST(ExperimentFile, reports_everything_that_is_wrong_at_once) {
  const auto loaded = load("[experiment]\nabout = 3\n[[grid]]\nseeds = \"x\"\n");
  const std::string& message = loaded.error().message;
  for (const char* field : {"about:", "seeds:", "config: is missing", "policy: is missing"}) {
    EXPECT_THAT(message, HasSubstr(field));
  }
}

TEST(ExperimentFile, that_is_not_there_is_said_to_be_unreadable) {
  const auto loaded = load_experiment("nowhere/study.toml");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ExperimentError::unreadable);
}

}  // namespace
}  // namespace muster::experiment

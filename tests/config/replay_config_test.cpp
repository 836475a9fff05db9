#include "config/replay_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "config/config_keys.hpp"
#include "replay/pairwise_interference.hpp"
#include "replay/replay_parts.hpp"
#include "replay/workload/composed.hpp"
#include "replay/workload/synthetic.hpp"
#include "replay/workload/training.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::IsGolden;
using test::IsGoldenAt;
using test::TempFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// What a config has to say at least.
constexpr std::string_view kLeast =
    "policies = [\"eva\"]\ncatalog = \"types.csv\"\n[workload]\nformat = \"eva-json\"\n"
    "path = \"jobs.json\"\n";

using Result = Expected<ReplayConfig, ConfigError>;

Result load(const std::string& content, const std::vector<std::string>& overrides = {}) {
  const TempFile file("run.toml", content);
  return load_replay_config(replay::replay_parts(), file.path(), overrides);
}

/// The least config with more below it.
Result load_with(const std::string& more, const std::vector<std::string>& overrides = {}) {
  return load(std::string(kLeast) + more, overrides);
}

Result load_override(const std::string& text) {
  return load_with("", {text});
}

std::string message_of(const Result& result, ConfigError code = ConfigError::invalid) {
  return test::message_of(result, code);
}

TEST(ReplayConfig, HasDefaultsForEverythingElse) {
  const ReplayConfig config = load_with("").value();
  EXPECT_EQ(config.name, "run");
  EXPECT_EQ(config.seed, 1U);
  EXPECT_EQ(config.trials, 1U);
  EXPECT_THAT(config.policies, ElementsAre("eva"));
  EXPECT_EQ(config.workload.max_jobs, 0U);
  EXPECT_EQ(config.world.quantum, 1s);
  EXPECT_EQ(config.world.settle, 2ms);
  EXPECT_EQ(config.world.job_delay_scale, 1);
  EXPECT_EQ(config.world.interference.model, "none");
  EXPECT_EQ(config.world.interference.default_pair, 0.95);
  EXPECT_FALSE(config.world.interference.own.of<replay::PairwiseSettings>().as_generated);
  EXPECT_FALSE(config.cloud.max_instances.has_value());
  EXPECT_EQ(config.master.round_settle, 1ms);
  EXPECT_EQ(config.master.sample_timeout, 2s);
  EXPECT_EQ(config.master.max_attempts, 1U);
  EXPECT_EQ(config.master.max_losses, 20U);
  EXPECT_EQ(config.master.gangs.patience, 1h);
  EXPECT_EQ(config.master.gangs.turn, 30min);
  EXPECT_EQ(config.master.gangs.longest, 12h);
  EXPECT_EQ(config.master.launch_backoff_longest, 1h);
  EXPECT_EQ(config.master.metrics.interval, 5s);
  EXPECT_EQ(config.master.metrics.most_values, 50'000U);
  EXPECT_EQ(config.master.metrics.most_series, 200U);
  EXPECT_EQ(config.master.caps.max_usd_h, 0);
  EXPECT_EQ(config.master.caps.spend_margin, 5min);
  EXPECT_EQ(config.master.caps.end_time, 30s);
  EXPECT_EQ(config.master.watch.remind_every, 2s);
  EXPECT_EQ(config.master.watch.ask_pause, 6h);
  EXPECT_EQ(config.master.watch.worker_lost_after, 10min);
  EXPECT_EQ(config.master.watch.snapshot_every, 100'000U);
  EXPECT_EQ(config.master.min_stay, 5min);
  EXPECT_FALSE(config.master.move_when_ready);
  EXPECT_EQ(config.master.decision_time, 0s);
  EXPECT_EQ(config.master.decision_budget, 0U);
  EXPECT_EQ(config.master.slice_parts, 500U);
}

TEST(ReplayConfig, ReadsEveryKey) {
  const ReplayConfig config = load(R"(
seed = 9
trials = 3
policies = ["no-packing", "eva,t=0.9"]
catalog = "c.csv"
[workload]
format = "synthetic"
path = "w.csv"
max_jobs = 7
[workload.synthetic]
workloads = "list.csv"
jobs = 11
tasks_per_job = 4
mean_gap_s = 12.5
min_duration_h = 1
max_duration_h = 2
[world]
quantum = "100ms"
settle = 0.001
job_delay_scale = 2.5
[world.interference]
model = "pairwise"
matrix = "m.csv"
default_pair = 0.8
variant = "as-generated"
[cloud]
max_instances = 5
[master]
round_settle = "3ms"
sample_timeout = 4
max_attempts = 6
gang_patience = 0
gang_turn = "10min"
gang_longest = "2h"
launch_backoff_longest = "3h"
min_stay = "90s"
max_instances = 8
max_usd_h = 99.5
)")
                                  .value();
  EXPECT_EQ(config.seed, 9U);
  EXPECT_EQ(config.trials, 3U);
  EXPECT_THAT(config.policies, ElementsAre("no-packing", "eva,t=0.9"));
  EXPECT_EQ(config.workload.format, "synthetic");
  EXPECT_EQ(config.workload.max_jobs, 7U);
  EXPECT_EQ(config.workload.own.of<replay::SyntheticWorkload>().jobs, 11U);
  EXPECT_EQ(config.workload.own.of<replay::SyntheticWorkload>().tasks_per_job, 4U);
  EXPECT_EQ(config.workload.own.of<replay::SyntheticWorkload>().mean_gap_s, 12.5);
  EXPECT_EQ(config.workload.own.of<replay::SyntheticWorkload>().min_duration_h, 1);
  EXPECT_EQ(config.workload.own.of<replay::SyntheticWorkload>().max_duration_h, 2);
  EXPECT_EQ(config.world.quantum, 100ms);
  EXPECT_EQ(config.world.settle, 1ms);
  EXPECT_EQ(config.world.job_delay_scale, 2.5);
  EXPECT_EQ(config.world.interference.model, "pairwise");
  EXPECT_EQ(config.world.interference.default_pair, 0.8);
  EXPECT_TRUE(config.world.interference.own.of<replay::PairwiseSettings>().as_generated);
  EXPECT_EQ(config.cloud.max_instances, 5U);
  EXPECT_EQ(config.master.round_settle, 3ms);
  EXPECT_EQ(config.master.sample_timeout, 4s);
  EXPECT_EQ(config.master.max_attempts, 6U);
  EXPECT_EQ(config.master.gangs.patience, 0s);
  EXPECT_EQ(config.master.gangs.turn, 10min);
  EXPECT_EQ(config.master.gangs.longest, 2h);
  EXPECT_EQ(config.master.launch_backoff_longest, 3h);
  EXPECT_EQ(config.master.min_stay, 90s);
  EXPECT_EQ(config.master.caps.max_instances, 8U);
  EXPECT_EQ(config.master.caps.max_usd_h, 99.5);
}

TEST(ReplayConfig, ReadsHowPlansAreMadeAndCarriedOut) {
  const ReplayConfig config =
      load_with(
          "[master]\ndecision_time = \"20s\"\ndecision_budget = 7\nslice_parts = 12\n"
          "move_when_ready = true\n")
          .value();
  EXPECT_TRUE(config.master.move_when_ready);
  EXPECT_EQ(config.master.decision_time, 20s);
  EXPECT_EQ(config.master.decision_budget, 7U);
  EXPECT_EQ(config.master.slice_parts, 12U);
}

TEST(ReplayConfig, ReadsWhatMastersDoByTheClock) {
  const ReplayConfig config = load_with(R"([master]
cap_margin = "2min"
end_time = 0
remind_every = "500ms"
ask_pause = "1h"
worker_lost_after = 90
snapshot_every = 1000
)")
                                  .value();
  EXPECT_EQ(config.master.caps.spend_margin, 2min);
  EXPECT_EQ(config.master.caps.end_time, 0s);
  EXPECT_EQ(config.master.watch.remind_every, 500ms);
  EXPECT_EQ(config.master.watch.ask_pause, 1h);
  EXPECT_EQ(config.master.watch.worker_lost_after, 90s);
  EXPECT_EQ(config.master.watch.snapshot_every, 1000U);
}

TEST(ReplayConfig, TheDaysCapLeavesAnHourAtMostForEnding) {
  EXPECT_THAT(load_with("[master]\nend_time = \"2h\"\n").error().message,
              IsGoldenAt("master.end_time"));
}

TEST(ReplayConfig, TakesPathsRelativeToItsFolder) {
  const TempFile file("run.toml",
                      "policies = [\"eva\"]\ncatalog = \"../types.csv\"\n[workload]\n"
                      "format = \"eva-json\"\npath = \"/data/jobs.json\"\n");
  const ReplayConfig config = load_replay_config(replay::replay_parts(), file.path(), {}).value();
  EXPECT_EQ(config.catalog, file.folder().parent_path() / "types.csv");
  EXPECT_EQ(config.workload.path, "/data/jobs.json");
}

TEST(ReplayConfig, ReplacesTheDataVariable) {
  setenv("MUSTER_DATA", "/somewhere", 1);
  const Result set = load_override("workload.path=${MUSTER_DATA}/eva/a.json");
  unsetenv("MUSTER_DATA");
  const Result unset = load_override("workload.path=${MUSTER_DATA}/eva/a.json");
  EXPECT_EQ(set.value().workload.path, "/somewhere/eva/a.json");
  EXPECT_EQ(unset.value().workload.path,
            (std::filesystem::current_path() / "../shared/data/eva/a.json").lexically_normal());
  EXPECT_THAT(message_of(load_override("workload.path=${HOME}/a.json")), IsGolden());
}

TEST(ReplayConfig, SaysWhereTheTomlIsMalformed) {
  const Result result = load("seed = 1\npolicies = [\"eva\"\ncatalog = 3\n");
  EXPECT_EQ(result.error().code, ConfigError::malformed);
  EXPECT_THAT(result.error().message, HasSubstr("run.toml:3:1: "));
}

TEST(ReplayConfig, NamesAFileThatCannotBeRead) {
  const Result result = load_replay_config(replay::replay_parts(), "/nonexistent/run.toml", {});
  EXPECT_EQ(result.error().code, ConfigError::unreadable);
  EXPECT_THAT(result.error().message, IsGoldenAt("/nonexistent/run.toml"));
}

TEST(ReplayConfig, ReportsAllErrorsAtOnceInTheOrderOfTheFile) {
  const std::string error =
      message_of(load_with("max_jobs = -1\n[world]\nquantum = \"5 fortnights\"\nsetle = "
                           "1\n[master]\nmax_usd_h = nan\n"));
  EXPECT_THAT(error,
              IsGoldenAt("run.toml:6:12: workload.max_jobs", "run.toml:8:11: world.quantum"));
  EXPECT_THAT(error, HasSubstr("5 fortnights"));
  EXPECT_THAT(error, IsGoldenAt("run.toml:9:1: world.setle", "run.toml:11:13: master.max_usd_h"));
  EXPECT_LT(error.find(":6:12:"), error.find(":8:11:"));
  EXPECT_LT(error.find(":9:1:"), error.find(":11:13:"));
}

TEST(ReplayConfig, RejectsTimesOfGangsOutOfTheirRanges) {
  EXPECT_THAT(message_of(load_with("[master]\ngang_patience = \"25h\"\n")),
              IsGoldenAt("master.gang_patience"));
  EXPECT_THAT(message_of(load_with("[master]\nmin_stay = \"8d\"\n")),
              IsGoldenAt("master.min_stay"));
  EXPECT_THAT(message_of(load_with("[master]\ngang_turn = 0\n")), IsGoldenAt("master.gang_turn"));
  EXPECT_THAT(message_of(load_with("[master]\ngang_longest = \"169h\"\n")),
              IsGoldenAt("master.gang_longest"));
}

TEST(ReplayConfig, RejectsInstancesThatAreBilledLongerThanARunWaitsForThem) {
  EXPECT_EQ(load_with("[cloud]\nreclaim = \"12h\"\n").value().cloud.reclaim, 12h);
  EXPECT_THAT(message_of(load_with("[cloud]\nreclaim = \"13h\"\n")), IsGoldenAt("cloud.reclaim"));
}

TEST(ReplayConfig, RejectsPlanningOutOfItsRanges) {
  EXPECT_THAT(message_of(load_with("[master]\ndecision_time = \"61min\"\n")),
              IsGoldenAt("master.decision_time"));
  EXPECT_THAT(message_of(load_with("[master]\nslice_parts = 0\n")),
              IsGoldenAt("master.slice_parts"));
  EXPECT_THAT(message_of(load_with("[master]\ndecision_budget = -1\n")),
              IsGoldenAt("master.decision_budget"));
}

TEST(ReplayConfig, RejectsValuesOfTheWrongType) {
  EXPECT_THAT(message_of(load("seed = \"one\"\n" + std::string(kLeast))),
              IsGoldenAt("run.toml:1:8: seed"));
  EXPECT_THAT(message_of(load("trials = 1.5\n" + std::string(kLeast))), IsGoldenAt("trials"));
  EXPECT_THAT(message_of(load("world = 3\n" + std::string(kLeast))),
              IsGoldenAt("run.toml:1:9: world"));
  EXPECT_THAT(message_of(load_with("[workload.max_jobs]\nx = 1\n")),
              IsGoldenAt("workload.max_jobs"));
}

TEST(ReplayConfig, RejectsAnUnknownChoice) {
  EXPECT_THAT(message_of(load_with("[world.interference]\nmodel = \"fair\"\n")),
              IsGoldenAt("run.toml:7:9: world.interference.model"));
}

TEST(ReplayConfig, RejectsAnEmptyListOfPolicies) {
  const std::string tail = "catalog = \"c\"\n[workload]\nformat = \"eva-json\"\npath = \"p\"\n";
  EXPECT_THAT(message_of(load("policies = []\n" + tail)), IsGoldenAt("run.toml:1:12: policies"));
  EXPECT_THAT(message_of(load("policies = [\"\"]\n" + tail)), IsGolden());
}

TEST(ReplayConfig, NamesEveryKeyThatIsMissing) {
  const std::string error = message_of(load("seed = 1\n"));
  EXPECT_THAT(error,
              IsGoldenAt("run.toml: policies", "run.toml: catalog", "run.toml: workload.format"));
}

TEST(ReplayConfig, NeedsWhatTheChosenKindsNeed) {
  EXPECT_THAT(message_of(load_override("workload.format=synthetic")),
              IsGoldenAt("workload.synthetic.workloads"));
  EXPECT_THAT(message_of(load_override("world.interference.model=pairwise")),
              IsGoldenAt("world.interference.matrix"));
  EXPECT_THAT(message_of(load("policies = [\"eva\"]\ncatalog = \"c\"\n[workload]\n"
                              "format = \"openb-csv\"\n")),
              IsGoldenAt("workload.path"));
}

TEST(ReplayConfig, ReadsHowAWorkloadIsComposed) {
  const WorkloadConfig workload =
      load_with(
          "[workload.composed]\nformat = \"swf\"\ndemands = \"d.csv\"\n"
          "demands_format = \"alibaba-2017\"\njobs = 10\nmean_gap_s = 3\n",
          {"workload.format=composed"})
          .value()
          .workload;
  EXPECT_EQ(workload.format, "composed");
  EXPECT_EQ(workload.own.of<replay::ComposedWorkload>().format, "swf");
  EXPECT_EQ(workload.own.of<replay::ComposedWorkload>().demands.filename(), "d.csv");
  EXPECT_EQ(workload.own.of<replay::ComposedWorkload>().demands_format, "alibaba-2017");
  EXPECT_EQ(workload.own.of<replay::ComposedWorkload>().jobs, 10U);
  EXPECT_EQ(workload.own.of<replay::ComposedWorkload>().mean_gap_s, 3);
}

TEST(ReplayConfig, NeedsWhatAComposedWorkloadNeeds) {
  const auto fault_of = [](const std::string& keys) {
    return message_of(load_with("[workload.composed]\n" + keys, {"workload.format=composed"}));
  };
  EXPECT_THAT(fault_of("format = \"tr\"\n"), IsGoldenAt("workload.composed.demands"));
  EXPECT_THAT(fault_of("jobs = 10\n"), IsGoldenAt("workload.composed.mean_gap_s"));
  EXPECT_EQ(fault_of("jobs = 10\nmean_gap_s = 1\n"), "no error");
}

TEST(ReplayConfig, ReadsWhatTrainingJobsAre) {
  const auto with = [](const std::string& keys) {
    return load_with("[workload.training]\nprofiles = \"dl\"\n" + keys,
                     {"workload.format=training"});
  };
  const auto settings = with("").value().workload.own.of<replay::TrainingSettings>();
  EXPECT_EQ(settings.profiles.filename(), "dl");
  EXPECT_EQ(settings.calibration, "osdi21");
  EXPECT_EQ(settings.agent, "oracle");
  EXPECT_TRUE(settings.states_speedups);
  const auto other = with(
                         "calibration = \"sia23\"\nagent = \"learned\"\nmax_width = 16\n"
                         "states_speedups = false\nrescale = \"20s\"\nrescale_factor = 0\n")
                         .value()
                         .workload.own.of<replay::TrainingSettings>();
  EXPECT_EQ(other.calibration, "sia23");
  EXPECT_EQ(other.agent, "learned");
  EXPECT_EQ(other.max_width, 16U);
  EXPECT_FALSE(other.states_speedups);
  EXPECT_EQ(other.rescale, std::chrono::seconds{20});
  EXPECT_EQ(other.rescale_factor, 0);
  EXPECT_THAT(message_of(with("calibration = \"osdi\"\n")),
              HasSubstr("workload.training.calibration: "));
  EXPECT_THAT(message_of(with("max_width = 65\n")), HasSubstr("workload.training.max_width: "));
  EXPECT_THAT(message_of(load_override("workload.format=training")),
              IsGoldenAt("workload.training.profiles"));
}

TEST(ReplayConfig, NeedsAFleetForALoadAndNoOtherFactor) {
  const std::string error =
      message_of(load_with("", {"workload.load=0.8", "workload.scale_time=2"}));
  EXPECT_THAT(error, IsGoldenAt("workload.load", "workload.scale_time"));
  EXPECT_TRUE(load_with("[master]\nfleet = [\"3*slot\"]\n", {"workload.load=0.8"}).has_value());
}

TEST(ReplayConfig, NeedsAFleetToRentBeyond) {
  EXPECT_THAT(message_of(load_with("", {"master.rent_beyond_fleet=true"})),
              IsGoldenAt("master.rent_beyond_fleet"));
  const auto both = load_with("[master]\nfleet = [\"3*slot\"]\nrent_beyond_fleet = true\n", {});
  ASSERT_TRUE(both.has_value());
  EXPECT_TRUE(both.value().master.rent_beyond_fleet);
}

TEST(ReplayConfig, RejectsAFactorThatCountsForNothing) {
  EXPECT_THAT(message_of(load_with("", {"workload.stated.factor=2"})),
              IsGoldenAt("workload.stated.factor"));
}

TEST(ReplayConfig, RejectsFewerTasksThanItAsksFor) {
  EXPECT_THAT(message_of(load_with("", {"workload.min_tasks=10", "workload.max_tasks=9"})),
              IsGoldenAt("workload.max_tasks"));
}

TEST(ReplayConfig, RejectsDurationsTheWrongWayRound) {
  EXPECT_THAT(
      message_of(load_with("[workload.synthetic]\nmin_duration_h = 9\nmax_duration_h = 2\n")),
      IsGoldenAt("run.toml:7:18: workload.synthetic.min_duration_h"));
}

TEST(ReplayConfig, PointsOutAKeyOfAnotherSection) {
  EXPECT_THAT(message_of(load("sample_timeout = 3\n" + std::string(kLeast))),
              HasSubstr("(there is master.sample_timeout)"));
}

TEST(Override, ReplacesWhatTheFileSays) {
  const ReplayConfig config =
      load_with("[world]\nquantum = 7\n",
                {"world.quantum=5min", "seed=42", "world.interference.model=uniform",
                 "world.interference.default_pair=0.5", "catalog=other.csv", "seed=43"})
          .value();
  EXPECT_EQ(config.world.quantum, 5min);
  EXPECT_EQ(config.seed, 43U);
  EXPECT_EQ(config.world.interference.model, "uniform");
  EXPECT_EQ(config.world.interference.default_pair, 0.5);
  EXPECT_EQ(config.catalog.filename(), "other.csv");
}

TEST(Override, TakesOnePolicyOrAList) {
  EXPECT_THAT(load_override("policies=eva,single").value().policies, ElementsAre("eva,single"));
  EXPECT_THAT(load_override("policies=[\"a\", \"b\"]").value().policies, ElementsAre("a", "b"));
  EXPECT_THAT(load_override("policies=\"a\"").value().policies, ElementsAre("a"));
}

TEST(Override, IsNamedInItsErrors) {
  EXPECT_THAT(message_of(load_override("world.quantum=soon"), ConfigError::bad_override),
              IsGoldenAt("--set world.quantum=soon: world.quantum"));
  EXPECT_THAT(message_of(load_override("seed=-1"), ConfigError::bad_override),
              IsGoldenAt("--set seed=-1: seed"));
  EXPECT_THAT(
      message_of(load_override("world.interference.default_pair=inf"), ConfigError::bad_override),
      IsGolden());
  EXPECT_THAT(message_of(load_override("seed"), ConfigError::bad_override),
              IsGoldenAt("--set seed"));
  EXPECT_THAT(message_of(load_override("=3"), ConfigError::bad_override), IsGolden());
}

TEST(Override, ListsTheKnownKeysWhenItsOwnIsUnknown) {
  const std::string error = message_of(load_override("world.quantun=1"), ConfigError::bad_override);
  EXPECT_THAT(error, IsGoldenAt("--set world.quantun=1: world.quantun"));
  EXPECT_THAT(message_of(load_override("wrld.quantum=1"), ConfigError::bad_override), IsGolden());
}

TEST(Override, CannotSmuggleInASecondKey) {
  EXPECT_THAT(message_of(load_override("seed=3\ntrials=4"), ConfigError::bad_override),
              IsGoldenAt("seed"));
}

TEST(ConfigKeys, DescribeEveryKeyWithItsDefault) {
  const std::vector<KeyInfo> keys = known_config_keys(replay::replay_parts());
  const auto find = [&](const std::string& name) {
    return *std::find_if(keys.begin(), keys.end(),
                         [&](const auto& key) { return key.key == name; });
  };
  EXPECT_EQ(find("world.quantum").default_value, "1s");
  EXPECT_EQ(find("world.quantum").type, "duration");
  EXPECT_EQ(find("world.quantum").range, "from 1ns .. 1h");
  EXPECT_EQ(find("master.max_attempts").default_value, "1");
  EXPECT_EQ(find("world.interference.default_pair").default_value, "0.95");
  EXPECT_EQ(find("world.interference.default_pair").range, "above 0 .. 1");
  EXPECT_EQ(find("world.interference.model").default_value, "none");
  EXPECT_EQ(find("catalog").default_value, "required");
  EXPECT_EQ(find("workload.format").default_value, "required");
  for (const KeyInfo& key : keys) {
    EXPECT_FALSE(key.meaning.empty()) << key.key;
    EXPECT_THAT(describe_keys(keys), HasSubstr("| `" + key.key + "` | " + key.type + " | "));
  }
}

/// Defaults and ranges are declared apart, so each default is tried as an override.
TEST(ConfigKeys, HaveDefaultsInTheirRange) {
  for (const KeyInfo& key : known_config_keys(replay::replay_parts())) {
    if (key.default_value.empty() || key.default_value == "required") continue;
    EXPECT_THAT(message_of(load_override(key.key + "=" + key.default_value)),
                Not(HasSubstr("has to be")))
        << key.key;
  }
}

TEST(ReplayConfig, TellsAWrongOverrideFromAWrongFile) {
  EXPECT_EQ(load_override("seed=-1").error().code, ConfigError::bad_override);
  EXPECT_EQ(load_with("[cloud]\nmax_instances = -1\n").error().code, ConfigError::invalid);
  EXPECT_EQ(load_with("[cloud]\nmax_instances = -1\n", {"seed=-1"}).error().code,
            ConfigError::invalid);
}

}  // namespace
}  // namespace muster

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "config/catalog_file.hpp"
#include "config/replay_config.hpp"
#include "replay/replay_parts.hpp"
#include "storage/events/event_log.hpp"
#include "tests/replay/replay_setup.hpp"
#include "tests/support/places.hpp"

namespace muster::replay {
namespace {

using test::SmallReplay;
using testing::HasSubstr;
using testing::SizeIs;

std::string digest(const Run& run, const Catalog& catalog) {
  const LogHeader header{"p", 1, catalog};
  EventLogWriter writer(nullptr, header);
  for (const Event& event : run.events) writer.write(event);
  return writer.finish().value();
}

std::size_t count_starts(const Run& run, std::uint64_t task) {
  std::size_t n = 0;
  for (const Event& event : run.events) {
    const auto* start = std::get_if<StartIssued>(&event.body);
    n += start != nullptr && start->task.value == task;
  }
  return n;
}

TEST(Replay, OneJobTakesAndCostsWhatTheDelaysSay) {
  SmallReplay replay;
  replay.job(10, 1000, Resources::of(0, 6, 20));
  const auto run = replay.run("no-packing").value();
  // Round at 300, up at 310, ready at 410, loaded after 15 s, initialised after 20 s: 445 + 1000;
  // released by the round at 1500, gone a second later.
  EXPECT_NEAR(*run.result.mean_jct_h, (1445 - 10) / 3600.0, 1e-5);
  EXPECT_NEAR(run.result.total_cost_usd, 0.8 * (1501 - 310) / 3600, 1e-9);
  EXPECT_EQ(run.result.jobs_completed, 1U);
  EXPECT_EQ(run.result.instances_launched, 1U);
}

TEST(Replay, AJobThatArrivesAtARoundTakesPartInIt) {
  SmallReplay replay;
  replay.job(300, 1000, Resources::of(0, 6, 20));
  const auto run = replay.run("no-packing").value();
  EXPECT_NEAR(*run.result.mean_jct_h, (1445 - 300) / 3600.0, 1e-5);
}

TEST(Replay, AJobThatEndsAtARoundFreesItsInstanceOnePeriodLater) {
  SmallReplay replay;
  replay.job(10, 1055,
             Resources::of(0, 6, 20));  // ends at 1500, in that second's round still there
  const auto run = replay.run("no-packing").value();
  EXPECT_NEAR(run.result.total_cost_usd, 0.8 * (1801 - 310) / 3600, 1e-9);
}

TEST(Replay, NoPackingGivesTheClosedFormOfTwoHundredRealJobsToTheCent) {
  const std::filesystem::path root = muster::test::source_dir();
  const ReplayConfig config =
      load_replay_config(replay_parts(), root / "config/replay/eva-200.toml", {}).value();
  const Catalog catalog = load_catalog(config.catalog).value();
  const Workload workload = read_workload(config.workload, 1).value();
  double expected = 0;
  for (const WorkloadJob& job : workload.jobs) {
    const TaskSpec& task = job.job.tasks.front();
    std::optional<TypeId> cheapest;
    for (std::uint32_t i = 0; i < catalog.size(); ++i) {
      const TypeId type{i};
      if (!task.demands.on(catalog[type].family)->amount.fits_in(catalog[type].capacity)) continue;
      if (!cheapest || catalog[type].on_demand < catalog[*cheapest].on_demand) cheapest = type;
    }
    const InstanceType& type = catalog[*cheapest];
    const double round = 300 * std::ceil(to_seconds(job.submit) / 300);
    const double start = round + to_seconds(type.acquire + type.setup + task.delays.fetch +
                                            task.delays.build + task.delays.init);
    const double end = start + std::ceil(job.truth.iterations / job.truth.iterations_per_s);
    const double released = 300 * std::floor(end / 300) + 300;
    expected += type.on_demand.usd_h() * (released + 1 - round - to_seconds(type.acquire)) / 3600;
  }
  SmallReplay replay;
  replay.use(catalog);
  replay.workload() = workload;
  replay.config() = config;
  const auto run = replay.run("no-packing").value();
  EXPECT_NEAR(run.result.total_cost_usd, expected, 0.005);
  EXPECT_EQ(run.result.jobs_completed, 200U);
}

TEST(Replay, EvaPutsTasksTogetherThatTogetherAreWorthAnInstance) {
  SmallReplay replay;  // Table 3: t1, t2 and t4 share an it1, t3 has an it3
  replay.job(0, 5000, Resources::of(2, 8, 24))
      .job(0, 5000, Resources::of(1, 4, 10))
      .job(0, 5000, Resources::of(0, 6, 20))
      .job(0, 5000, Resources::of(0, 4, 12));
  const auto alone = replay.run("no-packing").value();
  const auto packed = replay.run("eva,t=1").value();
  EXPECT_EQ(alone.result.instances_launched, 4U);
  EXPECT_EQ(packed.result.instances_launched, 2U);
  EXPECT_LT(packed.result.total_cost_usd, alone.result.total_cost_usd);
}

TEST(Replay, AGangWaitsForItsLastTaskAndEndsTogether) {
  SmallReplay replay;
  replay.job(0, 1000, Resources::of(0, 8, 30), 3);
  const auto run = replay.run("no-packing").value();
  EXPECT_EQ(run.result.instances_launched, 3U);
  EXPECT_EQ(run.result.jobs_completed, 1U);
  EXPECT_NEAR(*run.result.mean_jct_h, 1145 / 3600.0, 1e-5);
}

TEST(Replay, GoesOnWithoutAJobThatFitsNoTypeAndSaysWhy) {
  SmallReplay replay;
  replay.job(0, 1000, Resources::of(9, 1, 1)).job(0, 1000, Resources::of(0, 1, 1));
  for (const char* policy : {"no-packing", "eva", "eva,artifact", "hcoop"}) {
    const auto run = replay.run(policy).value();
    EXPECT_EQ(run.result.jobs_completed, 1U) << policy;
    ASSERT_THAT(run.result.not_completed, SizeIs(1)) << policy;
    EXPECT_EQ(run.result.not_completed[0].first, "0");
    EXPECT_THAT(run.result.not_completed[0].second, HasSubstr("gpu")) << policy;
  }
}

TEST(Replay, TheSameSeedGivesTheSameLogToTheByte) {
  SmallReplay replay;
  for (int i = 0; i < 30; ++i) {
    replay.job(i * 137.0, 900 + 211.0 * i, Resources::of(i % 2, 1 + i % 4, 4 + i % 9));
  }
  for (const char* policy : {"no-packing", "eva", "eva,artifact", "hcoop"}) {
    const std::string first = digest(replay.run(policy).value(), replay.catalog());
    EXPECT_EQ(first, digest(replay.run(policy).value(), replay.catalog())) << policy;
  }
}

TEST(Replay, ACloudThatHasNoMoreMakesJobsWaitAndRunLater) {
  SmallReplay replay;
  for (int i = 0; i < 4; ++i) replay.job(0, 1000, Resources::of(0, 8, 30));
  replay.config().cloud.max_instances = 1;
  replay.config().master.starve_after = {};
  const auto run = replay.run("no-packing").value();
  EXPECT_EQ(run.result.jobs_completed, 4U);
  EXPECT_EQ(run.result.instances_launched, 4U);
  EXPECT_GT(*run.result.mean_jct_h, 2 * 1145 / 3600.0);
}

TEST(Replay, WhoHasWaitedLongForAFullCloudGetsTheInstanceThatEmpties) {
  SmallReplay replay;
  for (int i = 0; i < 4; ++i) replay.job(0, 1000, Resources::of(0, 8, 30));
  replay.config().cloud.max_instances = 1;
  const auto run = replay.run("no-packing").value();
  EXPECT_EQ(run.result.jobs_completed, 4U);
  EXPECT_EQ(run.result.instances_launched, 1U);
}

TEST(Replay, UnderACapThatFitsNothingTheRunEndsAndListsWhatWaits) {
  SmallReplay replay;
  replay.job(0, 1000, Resources::of(0, 8, 30));
  replay.config().master.caps.max_usd_h = 0.5;
  const auto run = replay.run("no-packing").value();
  EXPECT_EQ(run.result.jobs_completed, 0U);
  ASSERT_THAT(run.result.not_completed, SizeIs(1));
  EXPECT_THAT(run.result.not_completed[0].second, HasSubstr("spend cap"));
  EXPECT_EQ(run.result.total_cost_usd, 0);
}

TEST(Replay, AMovedTaskKeepsWhatItHasDone) {
  SmallReplay replay;  // two tasks share an it1; when the big one ends the small one moves
  replay.job(0, 3000, Resources::of(4, 8, 100)).job(0, 30000, Resources::of(0, 4, 12));
  const auto run = replay.run("eva,t=1").value();
  EXPECT_EQ(count_starts(run, 1), 2U);
  EXPECT_EQ(run.result.jobs_completed, 2U);
  EXPECT_LT(*run.result.p99_jct_h, (30000 + 1000) / 3600.0);
}

TEST(Replay, AGangThatTheCloudServesInPartLetsGoOfTheRest) {
  // Two gangs of three on a cloud of four: neither may sit on its part for ever.
  SmallReplay replay;
  replay.job(0, 1000, Resources::of(0, 8, 30), 3).job(0, 1000, Resources::of(0, 8, 30), 3);
  replay.config().cloud.max_instances = 4;
  const auto run = replay.run("no-packing").value();
  EXPECT_EQ(run.result.jobs_completed, 2U);
}

TEST(Replay, AGangThatTheCloudCanNeverServeEndsTheRunWithItsReason) {
  SmallReplay replay;
  replay.job(0, 1000, Resources::of(0, 8, 30), 3);
  replay.config().cloud.max_instances = 2;
  const auto run = replay.run("no-packing").value();
  ASSERT_THAT(run.result.not_completed, SizeIs(1));
  EXPECT_THAT(run.result.not_completed[0].second, HasSubstr("cloud quota"));
}

TEST(Replay, TheMoneyIsAccountedForToTheLastPart) {
  SmallReplay replay;
  for (int i = 0; i < 20; ++i) replay.job(i * 300.0, 5000, Resources::of(0, 1 + i % 7, 3 + i));
  const auto run = replay.run("eva").value();
  double parts = 0;
  for (const auto& [purpose, usd] : run.result.cost_by_purpose) parts += usd;
  EXPECT_NEAR(parts, run.result.total_cost_usd, 1e-9);
  EXPECT_GT(run.result.total_cost_usd, 0);
}

TEST(Replay, UnknownPoliciesAreErrorsThatListTheKnownOnes) {
  SmallReplay replay;
  replay.job(0, 10, Resources::of(0, 1, 1));
  const auto run = replay.run("evva");
  ASSERT_FALSE(run.has_value());
  EXPECT_THAT(run.error().message, HasSubstr("no-packing"));
}

}  // namespace
}  // namespace muster::replay

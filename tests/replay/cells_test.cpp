// Groups of several masters and sites: each master is a cell of its own, and the invariants of
// every run are checked for all of them together.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "storage/events/event_log.hpp"
#include "tests/replay/replay_setup.hpp"

namespace muster::replay {
namespace {

using test::SmallReplay;

/// Jobs of independent tasks on a fixed fleet, under three masters of whom two share each job.
class CellsTest : public ::testing::Test {
 protected:
  CellsTest() {
    ReplayConfig& config = replay_.config();
    config.group.masters = 3;
    config.site.masters_per_job = 2;
    config.fleet.parts = {{6, "it3", Market::on_demand}};
  }

  void job(double submit_s, std::size_t tasks, double seconds = 100) {
    replay_.job(submit_s, seconds, Resources::of(0, 2, 2), tasks);
    replay_.workload().jobs.back().job.gang = false;
  }
  replay::Run run(std::uint64_t seed = 1) {
    auto run = replay_.run("hcoop,threshold_s=1000", seed);
    EXPECT_TRUE(run.has_value()) << run.error().message;
    return std::move(run).value();
  }
  /// Which cells have parts of the job.
  static std::set<std::uint32_t> cells_of(const replay::Run& run, std::uint64_t job) {
    std::set<std::uint32_t> cells;
    for (const Event& event : run.events) {
      const auto* accepted = std::get_if<JobAccepted>(&event.body);
      if (accepted != nullptr && accepted->job.id.value == job) cells.insert(event.cell);
    }
    return cells;
  }

  SmallReplay replay_;
};

TEST_F(CellsTest, AJobIsOneJobInEveryFigureHoweverManyMastersShareIt) {
  for (int i = 0; i < 8; ++i) job(300 + 400 * i, 5);
  const auto all = run();
  EXPECT_EQ(all.result.jobs_submitted, 8U);
  EXPECT_EQ(all.result.jobs_completed, 8U);
  EXPECT_EQ(all.result.jct_h.size(), 8U);
  EXPECT_EQ(all.result.instances_launched, 6U);
  std::set<std::uint32_t> used;
  for (std::uint64_t id = 0; id < 8; ++id) {
    EXPECT_EQ(cells_of(all, id).size(), 2U) << "job " << id;
    used.merge(cells_of(all, id));
  }
  EXPECT_EQ(used.size(), 3U);
}

TEST_F(CellsTest, AGangStaysWithOneMaster) {
  replay_.job(10, 100, Resources::of(0, 2, 2), 3);
  EXPECT_EQ(cells_of(run(), 0).size(), 1U);
}

TEST_F(CellsTest, EveryMasterHasItsShareOfTheFleetAndItsOwnNumbers) {
  job(10, 3);
  const auto all = run();
  std::map<std::uint32_t, int> launched;
  for (const Event& event : all.events) {
    const auto* launch = std::get_if<LaunchRequested>(&event.body);
    if (launch == nullptr) continue;
    ++launched[event.cell];
    EXPECT_EQ(launch->instance.value / 1'000'000'000, event.cell);
  }
  EXPECT_THAT(launched,
              ::testing::ElementsAre(std::pair(0U, 2), std::pair(1U, 2), std::pair(2U, 2)));
}

TEST_F(CellsTest, AJobIsOverWithItsSlowestPart) {
  job(300, 2, 100);
  replay_.workload().jobs.back().truth.task_iterations = {100, 1000};
  const auto all = run();
  EXPECT_NEAR(all.result.jct_h.at(0) * 3600, 1000, 60) << "and the delays of a start";
}

TEST_F(CellsTest, SitesPassJobsOnAndNothingGetsLost) {
  replay_.config().group.sites = {{"tokyo", {35.7, 139.7}}, {"oslo", {59.9, 10.8}}};
  for (int i = 0; i < 20; ++i) {
    job(10 + 5 * i, 4);
    replay_.workload().jobs.back().job.origin = GeoPoint{59.0, 11.0};
  }
  EXPECT_EQ(run().result.jobs_completed, 20U);
}

TEST_F(CellsTest, TheSameSeedGivesTheSameEventsAndTheLogReadsBack) {
  for (int i = 0; i < 6; ++i) job(10 + 20 * i, 4);
  const auto log = [&](std::uint64_t seed) {
    std::string text;
    for (const Event& event : run(seed).events) append_json(event, replay_.catalog(), text);
    return text;
  };
  const std::string first = log(1);
  EXPECT_EQ(first, log(1));
  EXPECT_NE(first, log(2));
  EXPECT_NE(first.find("\"cell\":2"), std::string::npos);
}

}  // namespace
}  // namespace muster::replay

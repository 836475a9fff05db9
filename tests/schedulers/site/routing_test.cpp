#include "schedulers/site/routing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "schedulers/site/split.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using std::chrono::seconds;
using test::at_s;
using ::testing::ElementsAre;
using ::testing::SizeIs;

SiteSettings rules(std::uint32_t masters = 2) {
  SiteSettings made;
  made.masters_per_job = masters;
  made.load_stale_after = seconds{10};
  return made;
}

Heard heard(double load, double at = 0) {
  return {load, at_s(at)};
}

TEST(Distance, IsMeasuredAlongTheEarth) {
  const GeoPoint tokyo{35.68, 139.69};
  const GeoPoint london{51.51, -0.13};
  EXPECT_NEAR(distance_km(tokyo, london), 9558, 30);
  EXPECT_NEAR(distance_km({0, 179}, {0, -179}), 222.4, 0.5);  // over the date line
  EXPECT_EQ(distance_km(tokyo, tokyo), 0);
}

TEST(PresentLoad, TendsToFullWithAge) {
  EXPECT_DOUBLE_EQ(*present_load(heard(0.5), at_s(0), seconds{10}), 0.5);
  EXPECT_DOUBLE_EQ(*present_load(heard(0.5), at_s(5), seconds{10}), 0.75);
  EXPECT_FALSE(present_load(heard(0.5), at_s(10), seconds{10}));
  EXPECT_FALSE(present_load({}, at_s(0), seconds{10}));
  EXPECT_DOUBLE_EQ(*present_load(heard(3), at_s(5), seconds{10}), 3);
}

TEST(DrawMasters, TakesOnlyThoseThatAreNotHeavilyLoaded) {
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    const auto drawn = draw_masters({heard(0.84), heard(0.85), heard(0.2), heard(2)}, {0, 0, 0, 0},
                                    rules(), at_s(0), rng);
    EXPECT_EQ(std::set<std::uint32_t>(drawn.begin(), drawn.end()), (std::set<std::uint32_t>{0, 2}));
  }
}

TEST(DrawMasters, DrawsEveryPairEquallyOften) {
  Rng rng(7);
  std::map<std::set<std::uint32_t>, int> seen;
  for (int i = 0; i < 6000; ++i) {
    const auto drawn =
        draw_masters(std::vector<Heard>(4, heard(0)), {0, 0, 0, 0}, rules(), at_s(0), rng);
    ++seen[std::set<std::uint32_t>(drawn.begin(), drawn.end())];
  }
  ASSERT_THAT(seen, SizeIs(6));
  for (const auto& [pair, count] : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(DrawMasters, WhenAllAreHeavyTheLeastLoadedOneGetsAll) {
  Rng rng(1);
  EXPECT_THAT(draw_masters({heard(2), heard(0.9), heard(1)}, {0, 0, 0}, rules(), at_s(0), rng),
              ElementsAre(1));
}

TEST(DrawMasters, WhenNothingWasHeardTheOneThatGotTheLeastGetsAll) {
  Rng rng(1);
  EXPECT_THAT(draw_masters({{}, {}, {}}, {5, 3, 4}, rules(), at_s(0), rng), ElementsAre(1));
}

TEST(DrawMasters, WhoHasBeenSilentForTooLongIsNotDrawn) {
  Rng rng(1);
  EXPECT_THAT(draw_masters({heard(0, 0), heard(0.3, 19)}, {0, 0}, rules(), at_s(20), rng),
              ElementsAre(1));
}

TEST(NearestLightSite, GoesOnToTheNextNearestWhenOneIsHeavilyLoaded) {
  const GeoPoint berlin{52.5, 13.4};
  std::vector<SiteStanding> sites{{{48.9, 2.4}, heard(0.1)},     // Paris
                                  {{52.2, 21.0}, heard(0.1)},    // Warsaw, the nearest to Berlin
                                  {{40.7, -74.0}, heard(0.1)}};  // New York
  EXPECT_EQ(nearest_light_site(sites, 2, berlin, rules(), at_s(0)), 1u);
  sites[1].heard.load = 0.85;
  EXPECT_EQ(nearest_light_site(sites, 2, berlin, rules(), at_s(0)), 0u);
  sites[0].heard = {};
  EXPECT_EQ(nearest_light_site(sites, 2, berlin, rules(), at_s(0)), 2u);
  sites[2].heard.load = 5;
  EXPECT_EQ(nearest_light_site(sites, 2, berlin, rules(), at_s(0)), 2u) << "its own";
}

std::vector<std::uint64_t> ids(const Job& job) {
  std::vector<std::uint64_t> all;
  for (const TaskSpec& task : job.tasks) all.push_back(task.id.value);
  return all;
}

Job five_tasks() {
  Job job = test::JobBuilder(1).tasks(5).build();
  job.gang = false;
  return job;
}

TEST(SplitJob, DealsTheTasksOutInTurn) {
  const Job whole = five_tasks();
  const std::vector<std::uint64_t> all = ids(whole);
  const auto parts = split_job(whole, 2);
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_THAT(ids(parts[0]), ElementsAre(all[0], all[2], all[4]));
  EXPECT_THAT(ids(parts[1]), ElementsAre(all[1], all[3]));
  for (const Job& part : parts) {
    EXPECT_EQ(part.id, whole.id);
    EXPECT_EQ(part.task_count(), 5u);
  }
}

TEST(SplitJob, LeavesGangsAndSingleTasksWhole) {
  Job gang = five_tasks();
  gang.gang = true;
  const auto parts = split_job(gang, 3);
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_EQ(parts[0].total_tasks, 0u);
  EXPECT_THAT(parts[0].tasks, SizeIs(5));
  EXPECT_THAT(split_job(test::JobBuilder(1).build(), 3), SizeIs(1));
}

TEST(SplitJob, MakesNoPartWithoutTasks) {
  const auto parts = split_job(five_tasks(), 9);
  ASSERT_THAT(parts, SizeIs(5));
  for (const Job& part : parts) EXPECT_THAT(part.tasks, SizeIs(1));
}

TEST(SplitJob, SharesTheTasksInFlight) {
  Job job = five_tasks();
  job.max_running = 3;
  const auto parts = split_job(job, 2);
  EXPECT_EQ(parts[0].max_running, 2u);
  EXPECT_EQ(parts[1].max_running, 1u);
  job.max_running = 1;
  EXPECT_THAT(split_job(job, 2), SizeIs(1));
}

}  // namespace
}  // namespace muster

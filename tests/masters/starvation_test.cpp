#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/rng.hpp"
#include "tests/masters/starving_world.hpp"

// No job that fits waits for ever where something bounds what there is, under any policy that
// rents, however many smaller ones come that would fit into whatever is free.

namespace muster {
namespace {

using test::StarvingBounds;
using test::StarvingWorld;

constexpr const char* kLocal = "muster,period_s=10,eager,free_wait_s=0";
constexpr double kStarveAfter_s = 600;

/// So many small ones wait at the most: always one, and not so many that rounds take long.
constexpr std::size_t kBacklog = 12;

/// A small job comes so often that one always waits.
std::function<void()> stream(StarvingWorld& world, const StarvingWorld::Wish& wish, int every_s) {
  return [&world, wish, every_s, at = 0]() mutable {
    const bool enough = world.master().state().pending().size() > kBacklog;
    if (at++ % every_s == 0 && !enough) world.submit(wish);
  };
}

TEST(Starvation, AJobLargerThanTheHolesOfSmallOnesStartsUnderACapOnInstances) {
  StarvingWorld world(kLocal, {{.max_instances = 1}}, {2, 4});
  for (int i = 0; i < 3; ++i) world.submit({.cpus = 1, .seconds = 4});
  const std::uint64_t big = world.submit({.cpus = 4, .seconds = 1});
  world.run(kStarveAfter_s + 60, stream(world, {.cpus = 1, .seconds = 4}, 1));
  ASSERT_TRUE(world.has_started(big));
  EXPECT_GT(world.over(), 150u) << "until it claims the room the others have it";
  EXPECT_EQ(world.stops(), 0u);
}

TEST(Starvation, OneOfHigherPriorityDoesNotWaitForItsAge) {
  StarvingWorld world(kLocal, {{.max_instances = 1}}, {2, 4});
  for (int i = 0; i < 3; ++i) world.submit({.cpus = 1, .seconds = 4});
  const std::uint64_t big = world.submit({.cpus = 4, .seconds = 1, .priority = 100});
  world.run(60, stream(world, {.cpus = 1, .seconds = 4}, 1));
  ASSERT_TRUE(world.has_started(big));
  EXPECT_EQ(world.stops(), 0u);
}

TEST(Starvation, WithoutTheKeyNothingIsKept) {
  StarvingWorld world(kLocal, {{.max_instances = 1}}, {2, 4},
                      [](MasterSettings& settings) { settings.starve_after = {}; });
  for (int i = 0; i < 3; ++i) world.submit({.cpus = 1, .seconds = 4});
  const std::uint64_t big = world.submit({.cpus = 4, .seconds = 1});
  world.run(kStarveAfter_s + 60, stream(world, {.cpus = 1, .seconds = 4}, 1));
  EXPECT_FALSE(world.has_started(big));
  EXPECT_EQ(world.claims(), 0u);
}

TEST(Starvation, NothingIsKeptWhereNothingIsBounded) {
  StarvingWorld world(kLocal, {}, {2, 4});
  for (int i = 0; i < 3; ++i) world.submit({.cpus = 1, .seconds = 4});
  world.submit({.cpus = 4, .seconds = 1, .priority = 100});
  world.run(1200, stream(world, {.cpus = 1, .seconds = 4}, 1));
  EXPECT_EQ(world.claims(), 0u);
}

TEST(Starvation, OfOneLargeInstanceOnlyAsMuchEmptiesAsIsNeeded) {
  StarvingWorld world(kLocal, {{.max_instances = 1}}, {16});
  world.submit({.cpus = 2, .seconds = 100'000});  // keeps the instance
  for (int i = 0; i < 14; ++i) world.submit({.cpus = 1, .seconds = 30});
  const std::uint64_t big = world.submit({.cpus = 8, .seconds = 10, .priority = 1});
  world.run(120, stream(world, {.cpus = 1, .seconds = 30}, 2));
  EXPECT_TRUE(world.has_started(big));
}

TEST(Starvation, WhatHasClosedTakesWhatEndsBeforeItHasEmptied) {
  StarvingWorld world(kLocal, {{.max_instances = 1}}, {4});
  world.submit({.cpus = 2, .seconds = 300, .says_run_time = true});
  world.run(20);
  const std::uint64_t big =
      world.submit({.cpus = 4, .seconds = 10, .priority = 1, .says_run_time = true});
  world.run(20);
  const std::uint64_t brief = world.submit({.cpus = 1, .seconds = 60, .says_run_time = true});
  const std::uint64_t lasting = world.submit({.cpus = 1, .seconds = 600, .says_run_time = true});
  const std::uint64_t silent = world.submit({.cpus = 1, .seconds = 60});
  world.run(200);
  EXPECT_TRUE(world.has_started(brief));
  EXPECT_FALSE(world.has_started(lasting));
  EXPECT_FALSE(world.has_started(silent)) << "nobody said how long it takes";
  world.run(150);
  ASSERT_TRUE(world.has_started(big));
  EXPECT_LT(world.started_s(big), 340) << "it was not held up";
}

TEST(Starvation, OfSeveralInstancesTheOneThatEmptiesSoonestDoes) {
  StarvingWorld world(kLocal, {{.max_instances = 3}}, {2, 4});
  for (const double seconds : {5000.0, 100.0, 3000.0}) {
    world.submit({.cpus = 2, .seconds = seconds, .says_run_time = true});
    world.run(10);
  }
  const std::uint64_t big = world.submit({.cpus = 4, .seconds = 10, .priority = 1});
  world.run(200, stream(world, {.cpus = 2, .seconds = 100}, 10));
  EXPECT_TRUE(world.has_started(big));
}

TEST(Starvation, WhatNothingCouldHoldBlocksNothing) {
  // Its instance costs more than all that may be spent.
  StarvingWorld world(kLocal, {{.max_usd_h = 0.15}}, {2, 8});
  const std::uint64_t big = world.submit({.cpus = 8, .seconds = 10, .priority = 100});
  world.run(3600, stream(world, {.cpus = 1, .seconds = 4}, 4));
  EXPECT_FALSE(world.has_started(big));
  EXPECT_GT(world.over(), 800u) << "of 900";
}

TEST(Starvation, TheRoomThatOneOfSeveralLargeJobsGetsIsNotLostForTheNext) {
  StarvingWorld world(kLocal, {{.max_instances = 2}}, {2, 4});
  std::vector<std::uint64_t> big;
  for (int i = 0; i < 5; ++i) big.push_back(world.submit({.cpus = 4, .seconds = 20}));
  world.run(kStarveAfter_s + 600, stream(world, {.cpus = 1, .seconds = 4}, 1));
  for (const std::uint64_t job : big) EXPECT_TRUE(world.has_started(job)) << job;
}

TEST(Starvation, AMasterThatIsStartedAgainKnowsWhatItKeeps) {
  for (const std::size_t tail : {0u, 5u, 50u}) {
    StarvingWorld world(kLocal, {{.max_instances = 1}}, {2, 4});
    world.submit({.cpus = 2, .seconds = 200});
    world.run(20);
    const std::uint64_t big = world.submit({.cpus = 4, .seconds = 1, .priority = 100});
    world.run(20, stream(world, {.cpus = 1, .seconds = 4}, 1));
    ASSERT_NE(world.master().facts().claims.claim(), nullptr);
    const RoomWaits before = world.master().facts().claims.book();
    world.start_again(tail);
    EXPECT_EQ(world.master().facts().claims.book(), before) << tail;
    world.run(200, stream(world, {.cpus = 1, .seconds = 4}, 1));
    EXPECT_TRUE(world.has_started(big)) << tail;
  }
}

TEST(Starvation, UnderACapOnADaysMoneyItStartsTheNextDay) {
  StarvingWorld world(kLocal, {{.max_usd_day = 0.8}}, {2, 4});
  // Two processors are $0.1 an hour: the day's money is spent after eight hours.
  world.run(7.9 * 3600, stream(world, {.cpus = 1, .seconds = 40}, 20));
  const std::uint64_t big = world.submit({.cpus = 4, .seconds = 60});
  world.run(14 * 3600, stream(world, {.cpus = 1, .seconds = 40}, 20));
  EXPECT_FALSE(world.has_started(big));
  world.run(3 * 3600, stream(world, {.cpus = 1, .seconds = 40}, 20));
  EXPECT_TRUE(world.has_started(big));
}

TEST(Starvation, ANewDaysMoneyIsTheOldestJobsFirstWhateverTheClocksSay) {
  for (const int ahead_min : {0, 25, -25}) {
    StarvingBounds bounds{{.max_usd_day = 0.4}};
    bounds.cloud_ahead = std::chrono::minutes{ahead_min};
    StarvingWorld world("eva,eager,period_s=60", bounds, {4, 5});
    const std::uint64_t oldest = world.submit({.cpus = 4, .seconds = 6.0 * 3600});
    world.run(5 * 3600);
    ASSERT_TRUE(world.waits(oldest)) << "the money of this day is spent";
    // Larger ones come first in a plan, and take all that a day has.
    for (int i = 0; i < 40; ++i) world.submit({.cpus = 5, .seconds = 3600});
    world.run(19 * 3600 - ahead_min * 60);
    EXPECT_EQ(world.starts(oldest), 1u) << ahead_min;
    world.run(5 * 60);
    EXPECT_EQ(world.starts(oldest), 2u) << ahead_min;
  }
}

TEST(Starvation, ANewDaysMoneyIsKeptForAGangAsForASingleTask) {
  // The claim is all that goes before others: the gang has no turn.
  StarvingWorld world(
      "owl,period_s=60", {{.max_usd_day = 0.4}}, {4, 9},
      [](MasterSettings& settings) { settings.gangs.patience = std::chrono::hours{100}; });
  const std::uint64_t oldest = world.submit({.cpus = 4, .seconds = 6.0 * 3600, .tasks = 2});
  world.run(5 * 3600);
  ASSERT_TRUE(world.waits(oldest)) << "the money of this day is spent";
  ASSERT_EQ(world.starts(oldest), 2u);
  // Pairs come first in a plan, and take all that a day has.
  for (int i = 0; i < 80; ++i) world.submit({.cpus = 4.5, .seconds = 3600});
  world.run(19 * 3600);
  EXPECT_EQ(world.starts(oldest), 2u);
  world.run(5 * 60);
  EXPECT_EQ(world.starts(oldest), 4u) << "both tasks have started once more";
}

TEST(Starvation, AGangKeepsNoMoreOfADaysMoneyThanItTakes) {
  // Its two instances cost $0.34 an hour: a claim that took another time than launches are paid for
  // would be above the cap an hour, and keep nothing.
  StarvingWorld world(
      "owl,period_s=60", {{.max_usd_h = 0.4, .max_usd_day = 0.4}}, {4, 9},
      [](MasterSettings& settings) { settings.gangs.patience = std::chrono::hours{100}; });
  const std::uint64_t oldest = world.submit({.cpus = 4, .seconds = 6.0 * 3600, .tasks = 2});
  world.run(5 * 3600);
  ASSERT_TRUE(world.waits(oldest)) << "the money of this day is spent";
  for (int i = 0; i < 80; ++i) world.submit({.cpus = 4.5, .seconds = 3600});
  world.run(19 * 3600 + 5 * 60);
  EXPECT_EQ(world.starts(oldest), 4u) << "both tasks have started once more";
}

TEST(Starvation, ANewDaysMoneyIsKeptWithAsManyInstancesAsAGangMayTake) {
  StarvingWorld world(
      "owl,period_s=60", {{.max_instances = 3, .max_usd_day = 0.4}}, {4, 9},
      [](MasterSettings& settings) { settings.gangs.patience = std::chrono::hours{100}; });
  const std::uint64_t oldest = world.submit({.cpus = 4, .seconds = 6.0 * 3600, .tasks = 2});
  world.run(5 * 3600);
  ASSERT_TRUE(world.waits(oldest)) << "the money of this day is spent";
  // Room for one instance would be left: by the next round the others have spent this day, too.
  for (int i = 0; i < 80; ++i) world.submit({.cpus = 4.5, .seconds = 3600});
  world.run(19 * 3600 + 5 * 60);
  EXPECT_EQ(world.starts(oldest), 4u) << "both tasks have started once more";
}

TEST(Starvation, JobsThatNoDaysMoneyPaysForKeepNoneOfItFromTheNext) {
  StarvingWorld world("eva,eager,period_s=60", {{.max_usd_day = 0.4}}, {4, 5, 400});
  for (int i = 0; i < 20; ++i) world.submit({.cpus = 400, .seconds = 60});
  const std::uint64_t payable = world.submit({.cpus = 4, .seconds = 6.0 * 3600});
  world.run(5 * 3600);
  ASSERT_TRUE(world.waits(payable)) << "the money of this day is spent";
  for (int i = 0; i < 40; ++i) world.submit({.cpus = 5, .seconds = 3600});
  world.run(19 * 3600 + 5 * 60);
  EXPECT_EQ(world.starts(payable), 2u);
}

/// A policy, and what bounds it.
struct Case {
  std::string name;
  std::string policy;
  StarvingBounds bounds;
};

std::vector<Case> cases() {
  const std::vector<std::pair<std::string, StarvingBounds>> bounds = {
      {"instances", {{.max_instances = 3}}},
      {"usd_h", {{.max_usd_h = 0.5}}},
      {"cloud", {{}, 3}},
  };
  const std::vector<std::pair<std::string, std::string>> policies = {
      {"muster", kLocal},
      {"muster_by_default", "muster"},
      {"lrasched", "lrasched,eager,period_s=10"},
      {"lrasched_at_once", "lrasched,eager,at_once,period_s=10"},
      {"no_packing", "no-packing,eager,period_s=10"},
      {"eva", "eva,eager,period_s=10"},
      {"eva_paper", "eva,paper"},
      {"stratus", "stratus"},
      {"hcoop", "hcoop"},
      {"hcoop_no_packing", "hcoop-no-packing"},
      {"hotspot", "hotspot"},
      {"spot_fleet", "spot-fleet"},
      {"supercloud", "supercloud"},
      {"boa", "boa"},
      {"pollux", "pollux"},
      {"synergy", "synergy,eager,period_s=10"},
      {"owl", "owl"},
      {"stratus_artifact", "stratus,artifact,eager,period_s=10"},
  };
  std::vector<Case> all;
  for (const auto& [what, policy] : policies) {
    for (const auto& [bound, by] : bounds) all.push_back({what + "_" + bound, policy, by});
  }
  return all;
}

class AnyStream : public ::testing::TestWithParam<Case> {};

/// Streams of small jobs drawn by chance, of no higher priority than a large one. Before it has
/// started the others that run end, an earlier claim may have to be served, and rounds come.
TEST_P(AnyStream, OfSmallJobsLeavesALargeOneItsRoom) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Rng rng(seed);
    StarvingWorld world(GetParam().policy, GetParam().bounds, {2, 4, 8});
    const double longest_s = 20 + 100 * rng.uniform();
    const std::uint64_t every_s = 1 + rng.below(4);
    const bool same_priority = rng.below(2) == 0;
    std::uint64_t at = 0;
    const auto small = [&] {
      const bool enough = world.master().state().pending().size() > kBacklog;
      if (at++ % every_s != 0 || enough) return;
      world.submit({.cpus = 1.0 + static_cast<double>(rng.below(2)),
                    .seconds = 1 + longest_s * rng.uniform(),
                    .says_run_time = rng.below(2) == 0});
    };
    world.run(100, small);
    const std::uint64_t big =
        world.submit({.cpus = 8, .seconds = 10, .priority = same_priority ? 0 : 5});
    const double submitted_s = world.now_s();
    // Rounds by default come every five minutes; a full cloud is asked again after a rest.
    const double bound_s =
        2 * kStarveAfter_s + longest_s + 6 * 300 + (GetParam().bounds.cloud_limit > 0 ? 3600 : 0);
    while (!world.has_started(big) && world.now_s() < submitted_s + bound_s) world.run(10, small);
    EXPECT_TRUE(world.has_started(big)) << GetParam().name << ", seed " << seed;
    if (!same_priority && GetParam().bounds.cloud_limit == 0 && world.has_started(big)) {
      EXPECT_LT(world.started_s(big) - submitted_s, longest_s + 6 * 300) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Starvation, AnyStream, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

TEST(Starvation, AGangGetsItsInstancesUnderACap) {
  for (const char* policy : {kLocal, "no-packing,eager,period_s=10", "eva,eager,period_s=10"}) {
    StarvingWorld world(policy, {{.max_instances = 4}}, {2},
                        [](MasterSettings& settings) { settings.gangs.patience = {}; });
    const auto small = stream(world, {.cpus = 1, .seconds = 20}, 2);
    world.run(100, small);
    const std::uint64_t gang = world.submit({.cpus = 2, .seconds = 10, .tasks = 3});
    world.run(kStarveAfter_s + 300, small);
    EXPECT_TRUE(world.has_started(gang)) << policy;
  }
}

/// GPUs are what binds: those of one instance are all that one task needs.
TEST(Starvation, AJobThatNeedsAllGpusOfAnInstanceStarts) {
  StarvingWorld world(kLocal, {{.max_instances = 1}}, {2, 32});
  const auto small = stream(world, {.cpus = 2, .seconds = 30, .gpus = 1}, 2);
  world.run(100, small);
  const std::uint64_t big = world.submit({.cpus = 4, .seconds = 10, .gpus = 4});
  world.run(kStarveAfter_s - 100, small);
  EXPECT_FALSE(world.has_started(big)) << "until it is old enough the others have them";
  world.run(300, small);
  EXPECT_TRUE(world.has_started(big));
  EXPECT_EQ(world.stops(), 0u);
}

/// Its room is on what is owned, and no cap is in its way: nothing larger is to be had.
TEST(Starvation, BesideAFleetAJobGetsTheRoomOfAnOwnedInstance) {
  for (const double wide : {4.0, 8.0}) {
    // The owned one has four processors, the cap leaves one of either type beside it.
    StarvingWorld world(kLocal, {{.max_instances = 1}, 0, 1}, {4, 8});
    const auto small = stream(world, {.cpus = 1, .seconds = 30}, 1);
    world.run(100, small);
    const std::uint64_t big = world.submit({.cpus = wide, .seconds = 10});
    world.run(kStarveAfter_s + 300, small);
    EXPECT_TRUE(world.has_started(big)) << wide;
    EXPECT_EQ(world.stops(), 0u);
    EXPECT_TRUE(std::ranges::any_of(world.master().state().instances(), [](const InstanceRow& row) {
      return row.owned;
    })) << "what is owned stays";
  }
}

/// Each of its tasks claims in its turn, on an instance that has none of the others.
TEST(Starvation, TasksThatWantDistinctInstancesAllStart) {
  StarvingWorld world(kLocal, {{.max_instances = 2}}, {4});
  const auto small = stream(world, {.cpus = 1, .seconds = 20}, 1);
  world.run(100, small);
  const std::uint64_t big =
      world.submit({.cpus = 4, .seconds = 1000, .tasks = 2, .most_an_instance = 1});
  world.run(2 * kStarveAfter_s + 300, small);
  EXPECT_EQ(world.starts(big), 2u);
  EXPECT_EQ(world.stops(), 0u);
}

TEST(Starvation, TasksOfWhichTwoMayShareAnInstanceAllStart) {
  StarvingWorld world(kLocal, {{.max_instances = 2}}, {4});
  const auto small = stream(world, {.cpus = 1, .seconds = 20}, 1);
  const std::uint64_t big =
      world.submit({.cpus = 2, .seconds = 1000, .tasks = 4, .most_an_instance = 2});
  world.run(4 * kStarveAfter_s + 300, small);
  EXPECT_EQ(world.starts(big), 4u);
  EXPECT_EQ(world.stops(), 0u);
}

/// Those that cannot be apart wait; they keep nobody else's room for ever.
TEST(Starvation, MoreDistinctTasksThanThereMayBeInstancesBlockNothing) {
  StarvingWorld world(kLocal, {{.max_instances = 2}}, {4});
  const auto small = stream(world, {.cpus = 1, .seconds = 20}, 3);
  const std::uint64_t big = world.submit(
      {.cpus = 1, .seconds = 100'000, .priority = 10, .tasks = 3, .most_an_instance = 1});
  world.run(7200, small);
  EXPECT_EQ(world.starts(big), 2u);
  EXPECT_GT(world.over(), 1500u) << "of 2400";
}

}  // namespace
}  // namespace muster

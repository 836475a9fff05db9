#include <gtest/gtest.h>

#include "tests/masters/starving_world.hpp"
#include "tests/replay/every_policy.hpp"

// Where a cloud says how many machines are free, as one of machines of one's own does, no policy
// has the master order more.

namespace muster {
namespace {

using test::StarvingWorld;

class FreeMachines : public testing::TestWithParam<std::string> {};

TEST_P(FreeMachines, AreAllThatIsOrderedForFiftyTasks) {
  StarvingWorld world(GetParam(), {.machines = 3}, {4, 8});
  for (int i = 0; i < 50; ++i) world.submit({.cpus = 1, .seconds = 4, .says_run_time = true});
  constexpr double kThreeHours_s = 3 * 3600;
  world.run(kThreeHours_s);
  EXPECT_EQ(world.over(), 50u);
  EXPECT_EQ(world.refused_orders(), 0u);
  EXPECT_LE(world.most_rented(), 3u);
  EXPECT_GT(world.most_rented(), 0u);
}

TEST_P(FreeMachines, AreUsedAndWhatTheyDoNotHoldIsRentedBesideThem) {
  StarvingWorld world(GetParam(), {.machines = 2, .rents_beside = true}, {4, 8, 16});
  constexpr std::uint64_t kJobs = 24;
  for (std::uint64_t i = 0; i < kJobs; ++i) {
    world.submit({.cpus = 1, .seconds = 1200, .says_run_time = true});
  }
  world.run(3600);
  EXPECT_EQ(world.over(), kJobs);
  EXPECT_EQ(world.most_machines(), 2u);
  EXPECT_GT(world.most_rented(), 2u);
  EXPECT_EQ(world.refused_orders(), 0u);
  EXPECT_EQ(world.stops(), 0u) << "nobody gains by a move";
  // A round or two of those policies that wait for their period.
  constexpr double kTwoRounds_s = 630;
  for (std::uint64_t job = 1; job <= kJobs; ++job) {
    ASSERT_TRUE(world.has_started(job)) << job;
    EXPECT_LE(world.started_s(job), kTwoRounds_s) << job;
  }
}

TEST_P(FreeMachines, TakeTheNextJobsWhenTheyHaveComeFree) {
  StarvingWorld world(GetParam(), {.machines = 2, .rents_beside = true}, {4, 8, 16});
  for (int i = 0; i < 24; ++i) world.submit({.cpus = 4, .seconds = 300, .says_run_time = true});
  world.run(3600);
  ASSERT_EQ(world.over(), 24u);
  const std::size_t before = world.machine_uses();
  world.submit({.cpus = 4, .seconds = 300, .says_run_time = true});
  world.run(3600);
  EXPECT_EQ(world.over(), 25u);
  EXPECT_EQ(world.machine_uses(), before + 1);
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, FreeMachines, testing::ValuesIn(replay::test::every_policy()),
                         [](const auto& tested) { return replay::test::test_name(tested.param); });

constexpr const char* kEager = "muster,period_s=10,eager,free_wait_s=0";

TEST(NoFreeMachine, IsTheReasonOfTasksThatWait) {
  StarvingWorld world(kEager, {.machines = 1}, {4, 8});
  for (int i = 0; i < 3; ++i) world.submit({.cpus = 4, .seconds = 100});
  world.run(30);
  std::size_t waiting = 0;
  for (const TaskRow& task : world.master().state().pending()) {
    EXPECT_EQ(task.reason.code, RefusalCode::no_free_machine) << name_of(task.reason.code);
    ++waiting;
  }
  EXPECT_EQ(waiting, 2u);
}

TEST(NoFreeMachine, IsForgottenWhenOneIsFreeAgain) {
  StarvingWorld world(kEager, {.machines = 1}, {4, 8});
  world.submit({.cpus = 4, .seconds = 20});
  const std::uint64_t other = world.submit({.cpus = 4, .seconds = 1});
  world.run(60);
  EXPECT_TRUE(world.has_started(other));
  EXPECT_EQ(world.refused_orders(), 0u);
}

}  // namespace
}  // namespace muster

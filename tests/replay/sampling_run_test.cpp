// Sparrow, Eagle and Pigeon end to end: the invariants of every run are checked by each of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/rng.hpp"
#include "tests/replay/sampling/slot_replay.hpp"

namespace muster::replay {
namespace {

using test::jct_ms;
using test::SlotReplay;
using test::transcript;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EverySystem : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Systems, EverySystem,
                         ::testing::Values("sparrow", "sparrow,cancellation", "eagle",
                                           "eagle,sticky=false,srpt=false", "pigeon,groups=2",
                                           "pigeon,groups=4,weight=1"));

/// A mixture of short and long jobs, of up to `cpus` processors a task.
SlotReplay mixture(std::uint64_t seed, std::uint32_t workers, double cpus) {
  SlotReplay replay(workers, cpus);
  Rng rng(seed);
  double now = 0;
  for (int i = 0; i < 60; ++i) {
    now += rng.exponential(4);
    const bool is_long = rng.below(6) == 0;
    const double seconds = is_long ? rng.uniform(100, 300) : rng.uniform(0.01, 20);
    const auto tasks = static_cast<std::uint32_t>(1 + rng.below(is_long ? 4 : 12));
    replay.job(now, seconds, tasks, 1 + static_cast<double>(rng.below(static_cast<int>(cpus))));
  }
  return replay;
}

TEST_P(EverySystem, OneTaskOnAnIdleClusterTakesItsTimeAndThreeMessages) {
  SlotReplay replay(20);
  replay.job(1, 0.25, 1).job(2, 100, 1);
  const auto jct = jct_ms(replay.run(GetParam()));
  EXPECT_DOUBLE_EQ(jct.at(0), 250 + 1.5);
  EXPECT_DOUBLE_EQ(jct.at(1), 100'000 + 1.5);
}

TEST_P(EverySystem, RunsEveryTaskOnceInAnyOrderOfEvents) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SlotReplay replay = mixture(seed, 12, seed % 2 == 0 ? 1 : 4);
    auto run = replay.replay().run(GetParam(), seed, seed);
    ASSERT_TRUE(run.has_value()) << "seed " << seed << ": " << run.error().message;
    EXPECT_EQ(run->result.jobs_completed, 60U);
    std::set<TaskId> started;
    for (const Event& event : run->events) {
      const auto* start = std::get_if<StartIssued>(&event.body);
      if (start == nullptr) continue;
      EXPECT_TRUE(started.insert(start->task).second);
    }
  }
}

TEST_P(EverySystem, TheSameSeedGivesTheSameEvents) {
  const SlotReplay replay = mixture(3, 12, 4);
  const auto log = [&](std::uint64_t seed) { return transcript(replay.run(GetParam(), seed)); };
  EXPECT_EQ(log(1), log(1));
  EXPECT_NE(log(1), log(2));
}

TEST_P(EverySystem, WaitsForTheWorkersToBeThere) {
  SlotReplay replay(4);
  InstanceType slow = replay.replay().catalog()[TypeId{0}];
  slow.acquire = std::chrono::seconds{10};
  slow.setup = std::chrono::seconds{20};
  slow.terminate = std::chrono::seconds{1};
  replay.replay().use(Catalog({slow}));
  replay.job(0, 5, 1);
  EXPECT_DOUBLE_EQ(jct_ms(replay.run(GetParam())).at(0), 35'000 + 1.5);
}

TEST_P(EverySystem, RefusesWhatFitsNoWorker) {
  SlotReplay replay(4);
  replay.job(0, 5, 1, 2).job(0, 5, 1);
  const auto run = replay.run(GetParam());
  EXPECT_EQ(run.result.jobs_completed, 1U);
  EXPECT_THAT(run.result.not_completed.at(0).second, HasSubstr("fits no"));
}

TEST_P(EverySystem, NeedsAFleetOnDemandAndJobsWithoutGangs) {
  SlotReplay replay(4);
  replay.job(0, 5, 2);
  replay.replay().workload().jobs[0].job.gang = true;
  EXPECT_THAT(replay.replay().run(GetParam()).error().message, HasSubstr("gang of 2"));
  replay.replay().config().fleet.parts.clear();
  EXPECT_THAT(replay.replay().run(GetParam()).error().message, HasSubstr("master.fleet"));
}

TEST_P(EverySystem, RefusesAllJobsWhenTheCloudHasNoWorkers) {
  SlotReplay replay(4);
  replay.job(0, 5, 2);
  replay.replay().config().cloud.max_instances = 1;
  const auto run = replay.run(GetParam());
  const bool one_is_enough = std::string(GetParam()).starts_with("sparrow");
  EXPECT_EQ(run.result.jobs_completed, one_is_enough ? 1U : 0U);
}

// Two workers; three tasks of 10 ms. Two probes come to each worker at 0.5 ms. Each asks at once
// and starts a task at 1.5 ms; the first to end takes the third.
TEST(Sparrow, BindsTasksWhenWorkersAreFree) {
  SlotReplay replay(2);
  replay.job(0, 0.010, 3);
  const std::vector<std::string> lines = transcript(replay.run("sparrow"));
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_THAT(lines[0], HasSubstr("1 ms: task 0 is sent to"));
  EXPECT_THAT(lines[1], HasSubstr("1 ms: task 1 is sent to"));
  EXPECT_EQ(lines[2], "1.5 ms: task 0 starts");
  EXPECT_EQ(lines[3], "1.5 ms: task 1 starts");
  EXPECT_EQ(lines[4], "11.5 ms: task 0 ends");
  EXPECT_EQ(lines[5], "11.5 ms: task 1 ends");
  EXPECT_THAT(lines[6], HasSubstr("12 ms: task 2 is sent to"));
  EXPECT_EQ(lines[7], "12.5 ms: task 2 starts");
  EXPECT_EQ(lines[8], "22.5 ms: task 2 ends");
  EXPECT_EQ(lines[9], "22.5 ms: job 0 is over");
}

// One worker; the second job's probes wait behind the first one's second probe. That one asks when
// the first task ends, at 11.5 ms, and costs a round trip unless it was called back.
TEST(Sparrow, AProbeOfNoUseCostsARoundTripUnlessItIsCancelled) {
  SlotReplay replay(1);
  replay.job(0, 0.010, 1).job(0.005, 0.010, 1);
  EXPECT_DOUBLE_EQ(jct_ms(replay.run("sparrow")).at(1), 12.5 + 1 + 10 - 5);
  EXPECT_DOUBLE_EQ(jct_ms(replay.run("sparrow,cancellation")).at(1), 11.5 + 1 + 10 - 5);
}

// Distributor to master, master to worker, and back to both: 0.5 ms each. The worker is idle for
// 1 ms between two tasks, and the job is over 0.5 ms after its last task.
TEST(Pigeon, MastersQueueAndWorkersDoNot) {
  SlotReplay replay(1);
  replay.job(0, 0.010, 2);
  EXPECT_THAT(transcript(replay.run("pigeon,groups=1")),
              ElementsAre("0.5 ms: task 0 is sent to 0", "1 ms: task 0 starts",
                          "11 ms: task 0 ends", "11.5 ms: task 1 is sent to 0",
                          "12 ms: task 1 starts", "22 ms: task 1 ends", "22.5 ms: job 0 is over"));
}

// Two workers, one reserved. The long job's second task waits until the short ones are through.
TEST(Pigeon, KeepsReservedWorkersForShortTasks) {
  SlotReplay replay(2);
  replay.job(0, 100, 2).job(1, 1, 1);
  const auto run = replay.run("pigeon,groups=1,reserved=0.5");
  EXPECT_DOUBLE_EQ(jct_ms(run).at(1), 1'001.5);
  EXPECT_DOUBLE_EQ(jct_ms(run).at(0), 200'000 + 2.5);
}

// Two workers, the first for short tasks alone. Long tasks wait in the second one's queue, and no
// short task waits behind them.
TEST(Eagle, ShortTasksGoAroundLongOnes) {
  SlotReplay replay(2);
  replay.job(0, 100, 2).job(1, 1, 1);
  const auto run = replay.run("eagle,short_partition=0.5");
  EXPECT_DOUBLE_EQ(jct_ms(run).at(0), 200'000 + 2.5);
  EXPECT_LE(jct_ms(run).at(1), 1'003.5);
}

/// Starts of short tasks on workers between the placement of a long task there and its end.
int short_starts_beside_long(const Run& run) {
  std::map<TaskId, bool> is_long;
  std::map<InstanceId, std::set<TaskId>> placed;
  std::map<TaskId, InstanceId> place;
  int found = 0;
  for (const Event& event : run.events) {
    if (const auto* in = std::get_if<JobAccepted>(&event.body)) {
      for (const TaskSpec& task : in->job.tasks) {
        is_long[task.id] = *in->job.runtime_hint > std::chrono::seconds{90};
      }
    } else if (const auto* to = std::get_if<TaskAssigned>(&event.body)) {
      if (is_long[to->task]) placed[place[to->task] = to->to].insert(to->task);
    } else if (const auto* start = std::get_if<StartIssued>(&event.body)) {
      found += !is_long[start->task] && !placed[start->instance].empty();
    } else if (const auto* end = std::get_if<TaskFinished>(&event.body)) {
      if (is_long[end->task]) placed[place[end->task]].erase(end->task);
    }
  }
  return found;
}

// With the long job there first, no probe can have been queued before it.
TEST(Eagle, StartsNoShortTaskWhereALongOneIs) {
  SlotReplay replay(10);
  replay.job(0, 500, 5);
  Rng rng(2);
  for (int i = 0; i < 40; ++i) {
    replay.job(1 + i, rng.uniform(1, 15), static_cast<std::uint32_t>(1 + rng.below(5)));
  }
  EXPECT_EQ(short_starts_beside_long(replay.run("eagle,cutoff_s=90,short_partition=0.2")), 0);
}

// Without long jobs, without SRPT and sticky probes Eagle is Sparrow with 20 probes at least.
TEST(Eagle, WithoutLongJobsAndItsOwnOrderIsSparrow) {
  const SlotReplay replay = mixture(5, 12, 1);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto eagle = replay.run("eagle,cutoff_s=1e12,sticky=false,srpt=false", seed);
    const auto sparrow = replay.run("sparrow,min_probes=20,replacement", seed);
    EXPECT_EQ(transcript(eagle), transcript(sparrow)) << "seed " << seed;
  }
}

// With all jobs short a group without reserved workers is one queue for several servers.
TEST(Pigeon, WithoutLongJobsIsAQueueWithManyServers) {
  SlotReplay replay(3);
  Rng rng(9);
  std::vector<std::pair<double, double>> jobs;  // when the task arrives, how long it takes
  double now = 0;
  for (int i = 0; i < 50; ++i) {
    now += std::floor(rng.exponential(3000)) / 1e3;
    jobs.emplace_back(now, std::floor(rng.uniform(1000, 12000)) / 1e3);
    replay.job(jobs[i].first, jobs[i].second, 1);
  }
  const auto jct = jct_ms(replay.run("pigeon,groups=1,reserved=0,cutoff_s=1e12"));
  std::multiset<double> free = {0, 0, 0};  // when the master knows of each server
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const double sent = std::max(jobs[i].first + 0.0005, *free.begin());
    free.erase(free.begin());
    const double end = sent + 0.0005 + jobs[i].second;
    free.insert(end + 0.0005);
    EXPECT_NEAR(jct.at(i), (end + 0.0005 - jobs[i].first) * 1e3, 1e-3) << "job " << i;
  }
}

}  // namespace
}  // namespace muster::replay

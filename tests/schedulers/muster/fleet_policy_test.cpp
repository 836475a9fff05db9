// The policy on fixed fleets: who goes first, how much long tasks may hold, what starving brings.

#include <gtest/gtest.h>

#include <string>

#include "schedulers/muster/fleet_memory.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster::testing {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using test::JobBuilder;

/// An instance of one slot, and one of four, with memory besides.
Catalog slots() {
  return Catalog({type_of("slot", "cpu", Resources::of(0, 1, 0), 0.05),
                  type_of("four", "cpu", Resources::of(0, 4, 8), 0.2)});
}

Job job_of(std::uint64_t id, std::size_t tasks, JobLength length,
           const Resources& demand = Resources::of(0, 1, 0)) {
  Job job = JobBuilder(id).tasks(tasks).gang(false).demand(demand).build();
  job.prediction.length = length;
  return job;
}
Job short_job(std::uint64_t id, std::size_t tasks = 1) {
  return job_of(id, tasks, JobLength::short_run);
}
Job long_job(std::uint64_t id, std::size_t tasks = 1) {
  return job_of(id, tasks, JobLength::long_run);
}
Job with_priority(Job job, int priority) {
  job.priority = priority;
  return job;
}

/// The tasks that a plan starts, as "1 2 201".
std::string started(const Plan& plan) {
  std::string text;
  for (const Place& place : plan.places) {
    text += (text.empty() ? "" : " ") + std::to_string(place.task.value);
  }
  return text;
}

const Refusal* told(const Plan& plan, std::uint64_t task) {
  for (const Refuse& part : plan.refusals) {
    if (part.task == TaskId{task}) return &part.refusal;
  }
  return nullptr;
}

TEST(FleetPolicy, ShortJobsGoBeforeLongOnes) {
  Cluster cluster(slots(), "muster");
  cluster.add_to_fleet("slot");
  cluster.submit(long_job(1));
  cluster.submit(short_job(2, 3));
  EXPECT_EQ(started(cluster.round()), "2");
}

TEST(FleetPolicy, InAClassTheJobWithTheFewestUnstartedTasksGoesFirst) {
  Cluster cluster(slots(), "muster");
  cluster.add_to_fleet("slot");
  cluster.submit(short_job(1, 5));
  cluster.submit(short_job(2, 2));
  cluster.submit(short_job(3, 2));
  EXPECT_EQ(started(cluster.round()), "2") << "of equal ones the first accepted";
  cluster.finish_task(2);
  EXPECT_EQ(started(cluster.round()), "201") << "one task has started already";
}

TEST(FleetPolicy, AHigherPriorityGoesBeforeAShorterJob) {
  Cluster cluster(slots(), "muster");
  cluster.add_to_fleet("slot");
  cluster.submit(short_job(1));
  cluster.submit(with_priority(long_job(2), 1));
  EXPECT_EQ(started(cluster.round()), "2");
}

TEST(FleetPolicy, WithAgeingAnOlderJobGoesBeforeOneWithFewerTasks) {
  Cluster cluster(slots(), "muster,age_s=10");
  cluster.add_to_fleet("slot");
  cluster.submit(short_job(1, 30));
  cluster.let_pass(seconds{295});
  cluster.submit(short_job(2));
  EXPECT_EQ(started(cluster.round()), "1")
      << "300 s for 30 tasks are less than 295 s and 10 s for one";
}

TEST(FleetPolicy, LongTasksLeaveAShareOfTheFleetToShortOnes) {
  Cluster cluster(slots(), "muster,reserve=0.2");
  cluster.add_to_fleet("slot", 10);
  cluster.submit(long_job(1, 20));
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.places.size(), 8u);
  ASSERT_NE(told(plan, 119), nullptr);
  EXPECT_EQ(told(plan, 119)->code, RefusalCode::awaiting_capacity);
  EXPECT_EQ(told(plan, 119)->available, 0) << "what long tasks may still take";
  cluster.submit(short_job(2, 3));
  EXPECT_EQ(cluster.round().places.size(), 2u);
}

TEST(FleetPolicy, ASmallFleetMayBeAllLong) {
  Cluster cluster(slots(), "muster");
  cluster.add_to_fleet("slot", 10);
  cluster.submit(long_job(1, 20));
  EXPECT_EQ(cluster.round().places.size(), 10u) << "nine are less than 98 %";
}

TEST(FleetPolicy, TheShareOfLongTasksHoldsForEachResourceThatTheyAskFor) {
  Cluster cluster(slots(), "muster,reserve=0.5");
  cluster.add_to_fleet("four", 2);
  cluster.submit(job_of(1, 4, JobLength::long_run, Resources::of(0, 0.5, 2)));
  EXPECT_EQ(cluster.round().places.size(), 4u);
  cluster.submit(job_of(2, 2, JobLength::long_run, Resources::of(0, 0.5, 1)));
  EXPECT_TRUE(cluster.round().places.empty()) << "long tasks hold half of the memory";
  cluster.submit(job_of(3, 2, JobLength::long_run, Resources::of(0, 0.5, 0)));
  EXPECT_EQ(cluster.round().places.size(), 2u) << "and a quarter of the cores";
}

TEST(FleetPolicy, AGangAsLargeAsTheFleetMayBeLong) {
  Cluster cluster(slots(), "muster,reserve=0.5");
  cluster.add_to_fleet("slot", 4);
  Job gang = long_job(1, 4);
  gang.gang = true;
  cluster.submit(gang);
  EXPECT_EQ(cluster.round().places.size(), 4u);
}

TEST(FleetPolicy, AJobThatOutlivesItsClassIsLongFromThenOnAndItsRunningTasksCountAsLong) {
  Cluster cluster(slots(), "muster,cutoff_s=400,reserve=0.5");
  cluster.add_to_fleet("slot", 4);
  cluster.submit(short_job(1, 5));
  EXPECT_EQ(cluster.round().places.size(), 4u);
  cluster.finish_task(1);
  cluster.submit(short_job(2));
  EXPECT_EQ(started(cluster.ask()), "104") << "it is short still";
  EXPECT_EQ(started(cluster.round()), "2") << "its tasks have run for 600 s";
  cluster.finish(2);
  EXPECT_TRUE(cluster.round().places.empty()) << "three of its tasks run: more than half";
}

TEST(FleetPolicy, WhoeverNobodyKnowsCountsAsShortUntilItHasRunForTooLong) {
  Cluster cluster(slots(), "muster,cutoff_s=400,reserve=0.5");
  cluster.add_to_fleet("slot", 2);
  cluster.submit(job_of(1, 4, JobLength::unknown));
  EXPECT_EQ(cluster.round().places.size(), 2u);
  cluster.ask();
  cluster.finish_task(1);
  EXPECT_TRUE(cluster.ask().places.empty());
}

TEST(FleetPolicy, WhatIsMoreProbablyShortCountsAsShortWhateverItIsCalled) {
  const auto first_of = [](JobLength called, double confidence) {
    Cluster cluster(slots(), "muster,cutoff_s=0");
    cluster.add_to_fleet("slot");
    Job doubtful = job_of(1, 1, called);
    doubtful.prediction.confidence = confidence;
    // More tasks: it goes first only when the other one counts as long.
    cluster.submit(doubtful);
    cluster.submit(short_job(2, 3));
    return started(cluster.round());
  };
  EXPECT_EQ(first_of(JobLength::long_run, 1), "2");
  EXPECT_EQ(first_of(JobLength::long_run, 0.6), "2");
  EXPECT_EQ(first_of(JobLength::long_run, 0.1), "1") << "nine in ten of such jobs are short";
  EXPECT_EQ(first_of(JobLength::short_run, 0.9), "1");
  EXPECT_EQ(first_of(JobLength::short_run, 0.4), "2") << "six in ten of such jobs are long";
  EXPECT_EQ(first_of(JobLength::long_run, 0.5), "1") << "nobody knows, as without any class";
}

TEST(FleetPolicy, OneTaskOfAJobThatIsOnlyProbablyLongGoesWithShortOnesToShowIt) {
  const auto begin = [](JobLength called, double confidence, double cutoff_s) {
    Cluster cluster(slots(), "muster,reserve=0.5,cutoff_s=" + std::to_string(cutoff_s));
    cluster.add_to_fleet("slot", 4);
    cluster.submit(long_job(1, 2));
    EXPECT_EQ(started(cluster.round()), "1 101") << "all that long tasks may hold";
    Job doubtful = job_of(2, 5, called);
    doubtful.prediction.confidence = confidence;
    cluster.submit(doubtful);
    EXPECT_EQ(started(cluster.round()), "2");
    EXPECT_EQ(started(cluster.ask()), "") << "the others wait with long ones";
    cluster.finish_task(2);
    return cluster;
  };
  Cluster ran_for_300_s = begin(JobLength::long_run, 0.7, 300);
  EXPECT_EQ(started(ran_for_300_s.ask()), "201 202") << "it is short";
  Cluster ran_too_long = begin(JobLength::long_run, 0.7, 299);
  EXPECT_EQ(started(ran_too_long.ask()), "") << "it is long";
  Cluster called_short = begin(JobLength::short_run, 0.4, 300);
  EXPECT_EQ(started(called_short.ask()), "201 202");
}

TEST(FleetPolicy, AJobThatHasShownToBeShortMayTurnOutToBeLongAllTheSame) {
  Cluster cluster(slots(), "muster,reserve=0.5,cutoff_s=400");
  cluster.add_to_fleet("slot", 2);
  Job doubtful = long_job(1, 5);
  doubtful.prediction.confidence = 0.7;
  cluster.submit(doubtful);
  cluster.round();
  cluster.let_pass(seconds{300});
  cluster.finish_task(1);
  EXPECT_EQ(started(cluster.round()), "101 102");
  cluster.ask();
  cluster.finish_task(101);
  EXPECT_EQ(started(cluster.ask()), "") << "the other one has run for 600 s";
}

TEST(FleetPolicy, LongJobsGoByTheWorkThatTheyHaveStillToStart) {
  const auto first_of = [](const std::string& policy) {
    Cluster cluster(slots(), policy);
    cluster.add_to_fleet("slot");
    Job slow = long_job(1, 2);
    slow.runtime_hint = hours{3};
    Job fast = long_job(2, 4);
    fast.runtime_hint = hours{1};
    cluster.submit(slow);
    cluster.submit(fast);
    return started(cluster.round());
  };
  EXPECT_EQ(first_of("muster,task_times=known"), "2");
  EXPECT_EQ(first_of("muster,task_times=learnt"), "1") << "nothing has been learnt";
  EXPECT_EQ(first_of("muster,task_times=off"), "1");
}

TEST(FleetPolicy, WhatATaskTakesIsLearntFromTheFinishedOnesOfItsJob) {
  Cluster cluster(slots(), "muster,task_times=learnt");
  cluster.add_to_fleet("slot", 2);
  cluster.submit(long_job(1, 4));
  cluster.round();
  cluster.let_pass(hours{1});
  cluster.finish_task(1);
  cluster.finish_task(101);
  cluster.submit(with_priority(long_job(2, 5), 1));
  cluster.round();
  cluster.finish_task(2);
  cluster.finish_task(201);
  cluster.submit(long_job(3, 3));
  Plan plan = cluster.ask();
  EXPECT_EQ(started(plan), "202 203") << "by priority";
  cluster.submit(with_priority(long_job(4, 2), 1));
  plan = cluster.ask();
  EXPECT_EQ(started(plan), "202 203")
      << "tasks of job 2 are over at once, those of job 4 take as long as the mean of all";
}

TEST(FleetPolicy, AJobThatHasWaitedForTooLongGoesFirstInItsClass) {
  Cluster cluster(slots(), "muster,starve_s=1000");
  cluster.add_to_fleet("slot");
  cluster.submit(short_job(1, 9));
  cluster.let_pass(seconds{900});
  cluster.submit(short_job(2));
  EXPECT_EQ(started(cluster.round()), "1");
}

TEST(FleetPolicy, AClassThatIsKeptOutForTooLongGetsTheNextPlace) {
  Cluster cluster(slots(), "muster,starve_s=1000");
  cluster.add_to_fleet("slot", 2);
  cluster.submit(long_job(1, 3));
  cluster.submit(short_job(2, 2));
  EXPECT_EQ(started(cluster.round()), "2 201");
  cluster.let_pass(seconds{1000});
  cluster.submit(short_job(3, 9));
  cluster.finish(2);
  EXPECT_EQ(started(cluster.round()), "1 3") << "one place, and then all as before";
}

TEST(FleetPolicy, TheTurnOfAClassPassesByAJobThatLacksOnlyInstancesWithoutPeers) {
  Cluster cluster(slots(), "muster,starve_s=1000");
  cluster.add_to_fleet("four", 1);
  Job apart = long_job(1, 2);
  apart.most_an_instance = 1;
  cluster.submit(apart);
  ASSERT_EQ(started(cluster.round()), "1");
  cluster.submit(long_job(2, 3));
  cluster.submit(short_job(3, 3));
  ASSERT_EQ(started(cluster.round()), "3 301 302");
  cluster.let_pass(seconds{1000});
  cluster.submit(short_job(4, 9));
  cluster.finish(3);
  EXPECT_EQ(started(cluster.round()).substr(0, 2), "2 ") << "task 101 has its peer there";
}

TEST(FleetPolicy, RoomIsKeptForATaskThatHasWaitedForTooLong) {
  Cluster cluster(slots(), "muster,starve_s=1000,max_passes=0");
  cluster.add_to_fleet("four", 2);
  cluster.submit(short_job(1, 8));
  ASSERT_EQ(cluster.round().places.size(), 8u);
  cluster.submit(job_of(2, 1, JobLength::short_run, Resources::of(0, 4, 0)));
  cluster.submit(short_job(3, 20));
  cluster.ask();
  cluster.let_pass(seconds{1000});
  cluster.ask();
  // Tasks 1 and 101 to 103 are on one of the two instances, and the others on the other one.
  for (const std::uint64_t id : {1, 101, 102}) cluster.finish_task(id);
  EXPECT_EQ(started(cluster.round()), "") << "what is free there is kept";
  cluster.finish_task(103);
  EXPECT_EQ(started(cluster.round()), "2");
}

TEST(FleetPolicy, NoInstanceIsKeptForATaskThatHasAPeerThere) {
  Cluster cluster(slots(), "muster,starve_s=1000,max_passes=0");
  cluster.add_to_fleet("four", 2);
  Job apart = short_job(1, 3);
  apart.most_an_instance = 1;
  cluster.submit(apart);
  cluster.submit(short_job(2, 6));
  ASSERT_EQ(cluster.round().places.size(), 8u);
  cluster.let_pass(seconds{1000});
  cluster.ask();
  cluster.submit(short_job(3, 20));
  for (const std::uint64_t id : {2, 201, 202, 203, 204, 205}) cluster.finish_task(id);
  EXPECT_EQ(cluster.round().places.size(), 6u) << "all that is free is used";
}

TEST(FleetPolicy, WhileLongTasksHoldTheirShareOneOfTheirInstancesIsKeptForALongTask) {
  Cluster cluster(slots(), "muster,starve_s=1000,max_passes=0");
  cluster.add_to_fleet("four", 2);
  const auto half = [](std::uint64_t id) {
    return job_of(id, 1, JobLength::long_run, Resources::of(0, 2, 0));
  };
  for (std::uint64_t id = 1; id <= 4; ++id) cluster.submit(half(id));
  ASSERT_EQ(cluster.round().places.size(), 4u);
  cluster.submit(job_of(5, 1, JobLength::long_run, Resources::of(0, 4, 0)));
  cluster.ask();
  cluster.let_pass(seconds{1000});
  cluster.ask();
  cluster.submit(half(6));
  cluster.submit(short_job(7, 2));
  cluster.finish(1);
  EXPECT_EQ(started(cluster.round()), "") << "tasks 1 and 2 share what is kept for 5";
  cluster.finish(2);
  EXPECT_EQ(started(cluster.round()), "5");
}

TEST(FleetPolicy, WhatIsKeptForALongTaskCountsAsPartOfTheShareOfLongOnes) {
  Cluster cluster(slots(), "muster,starve_s=1000,max_passes=0,reserve=0.5,cutoff_s=0");
  cluster.add_to_fleet("four", 4);
  cluster.submit(long_job(1, 3));
  cluster.submit(short_job(2, 13));
  ASSERT_EQ(cluster.round().places.size(), 16u);
  cluster.submit(job_of(3, 1, JobLength::long_run, Resources::of(0, 4, 0)));
  cluster.ask();
  cluster.let_pass(seconds{1000});
  cluster.ask();
  // Three cores are held and four more promised: of eight one is left.
  cluster.submit(long_job(4, 4));
  for (const std::uint64_t id : {206, 207, 208, 209}) cluster.finish_task(id);
  EXPECT_EQ(cluster.round().places.size(), 1u);
}

TEST(FleetPolicy, RoomIsKeptForATaskThatHasBeenPassedTooOften) {
  Cluster cluster(slots(), "muster,max_passes=3,starve_s=0");
  cluster.add_to_fleet("four");
  cluster.submit(short_job(1, 4));
  ASSERT_EQ(cluster.round().places.size(), 4u);
  cluster.submit(job_of(2, 1, JobLength::short_run, Resources::of(0, 4, 0)));
  cluster.submit(short_job(3, 9));
  std::string passing;
  for (const std::uint64_t id : {1, 101, 102, 103, 3}) {
    cluster.finish_task(id);
    passing += started(cluster.round()) + ",";
  }
  EXPECT_EQ(passing, "3,301,302,303,,");
  for (const std::uint64_t id : {301, 302, 303}) cluster.finish_task(id);
  EXPECT_EQ(started(cluster.round()), "2");
}

TEST(FleetPolicy, SaysWhyATaskWaitsOnce) {
  Cluster cluster(slots(), "muster");
  cluster.add_to_fleet("slot");
  cluster.submit(short_job(1, 2));
  Plan plan = cluster.round();
  ASSERT_NE(told(plan, 101), nullptr);
  EXPECT_EQ(told(plan, 101)->code, RefusalCode::awaiting_capacity);
  EXPECT_EQ(told(plan, 101)->binding, Resource::cpu);
  EXPECT_EQ(told(plan, 101)->asked, 1);
  EXPECT_TRUE(cluster.round().refusals.empty());
}

TEST(FleetPolicy, SaysThatTheConstraintOfATaskBarsTheFleet) {
  Cluster cluster(slots(), "muster");
  cluster.add_to_fleet("slot");
  Job job = short_job(1);
  job.constraint = "type==four";
  cluster.submit(job);
  EXPECT_EQ(told(cluster.round(), 1)->code, RefusalCode::constraint);
}

TEST(FleetPolicy, NoConstraintIsWhyAFleetOfWhichNothingIsThereYetHasNoRoom) {
  Cluster cluster(slots(), "muster");
  cluster.add_to_fleet("slot", 0);
  cluster.submit(short_job(1));
  EXPECT_EQ(told(cluster.round(), 1)->code, RefusalCode::fixed_fleet);
}

TEST(FleetPolicy, WhatNoInstanceOfTheFleetHoldsWaitsForOneThatDoes) {
  Cluster cluster(slots(), "muster");
  cluster.add_to_fleet("slot");
  cluster.submit(job_of(1, 1, JobLength::short_run, Resources::of(0, 2, 0)));
  cluster.submit(job_of(2, 1, JobLength::short_run, Resources::of(0, 9, 0)));
  const Plan plan = cluster.round();
  EXPECT_EQ(told(plan, 1)->code, RefusalCode::fixed_fleet);
  EXPECT_EQ(told(plan, 1)->available, 1);
  EXPECT_EQ(told(plan, 2)->code, RefusalCode::fits_no_type) << "whatever is added";
  cluster.add_to_fleet("four");
  EXPECT_EQ(started(cluster.round()), "1");
}

TEST(FleetPolicy, AGangIsToldWhatItLacksAsAWhole) {
  Cluster cluster(slots(), "muster");
  cluster.add_to_fleet("slot", 3);
  Job gang = short_job(1, 5);
  gang.gang = true;
  cluster.submit(gang);
  const Plan plan = cluster.round();
  EXPECT_TRUE(plan.places.empty());
  ASSERT_NE(told(plan, 103), nullptr);
  EXPECT_EQ(told(plan, 103)->asked, 5);
  EXPECT_EQ(told(plan, 103)->available, 3);
}

TEST(FleetPolicy, RoundsAreHeldAsSoonAsSomethingComesOrLeaves) {
  const auto policy = make_policy(parse_policy("muster,eager=false").value(), slots()).value();
  EXPECT_FALSE(policy->cadence().on_arrival) << "that is of rented instances";
  EXPECT_TRUE(policy->fleet_cadence().on_arrival);
  EXPECT_TRUE(policy->fleet_cadence().on_capacity);
  EXPECT_FALSE(policy->fleet_cadence().wants_throughput);
}

TEST(FleetPolicy, AnotherOneThatWasGivenItsMemoryDecidesAsItDoes) {
  Cluster cluster(slots(), "muster,cutoff_s=400,starve_s=1000,max_passes=2");
  cluster.add_to_fleet("four", 2);
  for (std::uint64_t id = 1; id <= 9; ++id) {
    Job job = id % 3 == 0 ? long_job(id, 4) : short_job(id, 3);
    if (id % 2 == 0) job.prediction.confidence = 0.8;
    cluster.submit(job);
    cluster.submit(job_of(10 + id, 1, JobLength::short_run, Resources::of(0, 4, 0)));
    cluster.round();
  }
  const std::string memory = cluster.policy().save_state(cluster.state());
  const auto other = find_module("muster").value()->make_policy(
      parse_policy("muster,cutoff_s=400,starve_s=1000,max_passes=2").value(), cluster.catalog());
  ASSERT_TRUE(other.value()->load_state(memory, cluster.view()));
  EXPECT_EQ(other.value()->save_state(cluster.state()), memory);
  EXPECT_FALSE(other.value()->load_state("{\"fleet\":\"{}\"}", cluster.view()));
}

/// The order of the members of each line is on disk: stores that earlier masters wrote have it.
TEST(FleetPolicy, ReadsAndWritesItsMemoryAsItIsStored) {
  Cluster cluster(slots(), "muster");
  cluster.add_to_fleet("slot");
  cluster.submit(short_job(1));
  const std::string text =
      R"({"classes":[[7,2,9],[8,1,6]],"fresh":[1],"jobs":[[1,false,true,2.5,5,3,4,6,true]],)"
      R"("kept":[[1,1]],"types":["slot"]})";
  own::FleetMemory memory(own::FleetParams{}, cluster.catalog(), Market::on_demand);
  ASSERT_TRUE(memory.load(text, cluster.view()));
  EXPECT_EQ(memory.save(), text);
}

TEST(FleetPolicy, AJobNeverRunsOnAFleetThatHasOnlyInstancesOfTheOtherMarket) {
  InstanceType type = type_of("slot", "cpu", Resources::of(0, 1, 0), 0.05);
  type.spot = Price::from_usd_h(0.02);
  Cluster cluster(Catalog({type}), "muster");
  cluster.add_to_fleet("slot", 2, Market::spot);
  cluster.submit(short_job(1));
  const Plan plan = cluster.round();
  ASSERT_NE(told(plan, 1), nullptr);
  EXPECT_EQ(*told(plan, 1), (Refusal{RefusalKind::never, RefusalCode::wrong_market, {}, 1, 0}));
}

}  // namespace
}  // namespace muster::testing

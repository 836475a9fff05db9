#include "schedulers/muster/empty_record.hpp"

#include <gtest/gtest.h>

#include "schedulers/muster/rented_policy.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster::testing {
namespace {

using test::JobBuilder;

constexpr const char* kSeldom = "muster,eager,keep=1,period_s=3000";
constexpr std::chrono::seconds kRound{300};  // of a Cluster

/// One type that takes 1,000 s to start.
Catalog slow() {
  InstanceType type = type_of("m1", "m", Resources::of(0, 4, 16), 1);
  type.setup = std::chrono::seconds{979};
  return Catalog({type});
}
Job job(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(0, 3, 12)).build();
}

/// A job comes, and is over.
void run_one(Cluster& cluster, std::uint64_t id) {
  cluster.submit(job(id));
  cluster.round();
  cluster.finish(id);
}

TEST(EmptyInstances, are_kept_for_as_long_as_another_one_takes_to_start) {
  Cluster cluster(slow(), kSeldom);
  run_one(cluster, 1);
  for (int rounds = 0; rounds < 3; ++rounds) {
    EXPECT_TRUE(cluster.round().releases.empty());
    EXPECT_FALSE(cluster.policy().settled(cluster.view())) << "it is to be looked at again";
  }
  EXPECT_EQ(cluster.round().releases.size(), 1U);
}

TEST(EmptyInstances, are_kept_for_no_longer_than_a_period) {
  Cluster cluster(slow(), "muster,eager,keep=1,period_s=400");
  run_one(cluster, 1);
  EXPECT_TRUE(cluster.round().releases.empty());
  EXPECT_EQ(cluster.round().releases.size(), 1U);
}

TEST(EmptyInstances, take_tasks_that_come_meanwhile) {
  Cluster cluster(slow(), kSeldom);
  run_one(cluster, 1);
  cluster.round();
  cluster.submit(job(2));
  EXPECT_TRUE(cluster.round().launches.empty());
  EXPECT_EQ(cluster.layout(), "m1(2)");
}

TEST(EmptyInstances, go_back_at_once_where_no_other_one_was_wanted_soon) {
  Cluster cluster(slow(), kSeldom);
  for (std::uint64_t id = 1; id <= 8; ++id) {
    run_one(cluster, id);
    for (int rounds = 0; rounds < 5; ++rounds) cluster.round();
  }
  run_one(cluster, 9);
  EXPECT_EQ(cluster.round().releases.size(), 1U);
}

TEST(EmptyInstances, are_not_followed_where_no_one_is_kept) {
  Cluster cluster(slow(), "muster,eager=false,keep=0,period_s=3000");
  run_one(cluster, 1);
  cluster.round();
  const std::string memory = cluster.policy().save_state(cluster.state());
  EXPECT_NE(memory.find(R"(\"emptied\":[],\"empty_since\":[])"), std::string::npos) << memory;
}

TEST(EmptyInstances, go_back_at_once_where_that_is_asked_for_or_a_cap_binds) {
  Cluster asked(slow(), "muster,eager,keep=0,period_s=3000");
  run_one(asked, 1);
  EXPECT_EQ(asked.round().releases.size(), 1U);
  Cluster capped(slow(), kSeldom);
  capped.cap(5);
  run_one(capped, 1);
  EXPECT_EQ(capped.round().releases.size(), 1U);
}

TEST(EmptyInstances, are_remembered_by_another_policy_that_was_given_the_memory) {
  Cluster cluster(slow(), kSeldom);
  for (std::uint64_t id = 1; id <= 4; ++id) {
    run_one(cluster, id);
    cluster.round();
  }
  const std::string memory = cluster.policy().save_state(cluster.state());
  const auto other = make_policy(parse_policy(kSeldom).value(), cluster.catalog()).value();
  ASSERT_TRUE(other->load_state(memory, cluster.view()));
  EXPECT_EQ(other->save_state(cluster.state()), memory);
  Rng rng(1);
  Budget budget;
  cluster.let_pass(std::chrono::seconds{1200});
  EXPECT_EQ(other->decide(cluster.view(), rng, budget).releases.size(), 1U);
}

TEST(EagerRounds, leave_what_comes_to_the_next_one_for_a_tenth_of_a_start) {
  Cluster cluster(slow(), kSeldom);
  cluster.submit(job(1));
  cluster.round();
  cluster.submit(job(2));
  cluster.let_pass(-kRound + std::chrono::seconds{60});
  EXPECT_TRUE(cluster.ask().places.empty());
  EXPECT_TRUE(cluster.policy().cadence().rests) << "a dry run asks for the time after it";
  cluster.let_pass(-kRound + std::chrono::seconds{60});
  EXPECT_EQ(cluster.ask().places.size(), 1U);
}

TEST(EagerRounds, are_held_when_a_task_has_waited_for_as_long_as_it_may) {
  Cluster cluster(slow(), "muster,eager,theta=0,period_s=3000,free_wait_s=400");
  cluster.submit(JobBuilder(1).demand(Resources::of(0, 1, 4)).build());
  ASSERT_TRUE(cluster.round().places.empty()) << "a quarter of an instance waits for company";
  EXPECT_EQ(cluster.round().places.size(), 1U);
}

TEST(EagerRounds, fill_an_instance_with_tasks_that_one_by_one_would_wait) {
  Cluster cluster(slow(), "muster,eager,t=1,period_s=3000,free_wait_s=400");
  cluster.submit(JobBuilder(1).tasks(4).gang(false).demand(Resources::of(0, 1, 4)).build());
  cluster.round();
  EXPECT_EQ(cluster.layout(), "m1(1 101 102 103)");
}

TEST(EagerRounds, are_not_held_again_for_what_was_refused) {
  Cluster cluster(slow(), kSeldom);
  cluster.submit(job(1));
  for (int rounds = 0; rounds < 3; ++rounds) cluster.round();
  const Refusal cap{RefusalKind::not_now, RefusalCode::spend_cap, {}, 2, 1};
  cluster.tell_policy(PlanPartRefused{{}, {}, cap});
  EXPECT_NE(cluster.ask().note.choice, "repartition");
  cluster.submit(job(2));
  EXPECT_EQ(cluster.ask().note.choice, "repartition");
}

TEST(EagerRounds, are_held_at_once_where_periods_are_short) {
  Cluster cluster(slow(), "muster,eager,period_s=10");
  cluster.submit(job(1));
  cluster.round();
  cluster.submit(job(2));
  cluster.let_pass(-kRound + std::chrono::milliseconds{10});
  EXPECT_FALSE(cluster.policy().cadence().rests);
  EXPECT_EQ(cluster.ask().places.size(), 1U);
}

TEST(RoundsOnceAPeriod, leave_what_comes_free_under_a_cap_to_those_that_wait) {
  Cluster cluster(slow(), "muster,eager=false,at_once,keep=0,period_s=3000");
  cluster.cap(1);
  cluster.submit(job(1));
  cluster.round();
  cluster.submit(job(2));
  cluster.finish(1);
  cluster.let_pass(-kRound + std::chrono::seconds{60});
  const Plan plan = cluster.ask();
  EXPECT_TRUE(plan.releases.empty());
  EXPECT_EQ(plan.places.size(), 1U);
}

TEST(RoundsOnceAPeriod, plan_between_two_for_a_job_that_room_is_kept_for) {
  Cluster cluster(slow(), "muster,eager=false,at_once,keep=0,period_s=3000");
  cluster.cap(2);
  cluster.submit(job(1));
  cluster.round();
  cluster.submit(job(2));
  cluster.let_pass(-kRound + std::chrono::seconds{60});
  ASSERT_TRUE(cluster.ask().places.empty()) << "a task that comes waits for the regular round";
  ClusterView view = cluster.view();
  view.turn = JobId{2};
  Rng rng(1);
  Budget budget;
  const Plan plan = cluster.policy().decide(view, rng, budget);
  ASSERT_EQ(plan.places.size(), 1U) << "the room is kept for a few rounds only";
  EXPECT_EQ(plan.places.front().task, TaskId{2});
}

TEST(PricesOfWork, keep_tasks_that_slow_each_other_from_crowding_a_large_instance) {
  Cluster cluster(Catalog({type_of("c48", "c", Resources::of(0, 192, 384), 8.568)}), "muster");
  for (std::uint64_t id = 1; id <= 60; ++id) {
    cluster.submit(JobBuilder(id).demand(Resources::of(0, id % 2 == 0 ? 1 : 2, 4)).build());
  }
  cluster.round();
  EXPECT_GE(cluster.state().instances().size(), 2U) << cluster.layout();
  for (const InstanceRow& row : cluster.state().instances()) EXPECT_LE(row.planned.size(), 30U);
}

}  // namespace
}  // namespace muster::testing

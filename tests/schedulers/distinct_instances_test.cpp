#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "schedulers/packing/index/empty_rooms.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/stratus/m4.hpp"

namespace muster {
namespace {

using testing::Cluster;
using testing::job_of;
using testing::m4;

Job at_most(std::uint32_t most, Job job) {
  job.most_an_instance = most;
  return job;
}
Job apart(Job job) {
  return at_most(1, std::move(job));
}

/// The most tasks of the job that one instance has a place for.
std::size_t most_together(const Cluster& cluster, std::uint64_t job) {
  std::map<Slot, std::size_t> on;
  std::size_t most = 0;
  for (Slot slot : cluster.state().find(JobId{job})->tasks) {
    const Slot target = cluster.state().task(slot).target;
    if (target != kNoSlot) most = std::max(most, ++on[target]);
  }
  return most;
}

std::size_t placed(const Cluster& cluster, std::uint64_t job) {
  std::size_t count = 0;
  for (Slot slot : cluster.state().find(JobId{job})->tasks) {
    count += cluster.state().task(slot).target != kNoSlot;
  }
  return count;
}

TEST(DistinctInstances, holds_under_every_policy_of_masters_where_instances_are_rented) {
  for (const PolicyModule& module : known_policies()) {
    SCOPED_TRACE(module.name);
    Cluster cluster(m4(), module, module.name);
    cluster.submit(job_of(1, 3600, 1, 2, 3));
    cluster.submit(apart(job_of(2, 3600, 1, 2, 5)));
    cluster.round();
    cluster.round();
    EXPECT_EQ(placed(cluster, 2), 5U);
    EXPECT_EQ(most_together(cluster, 2), 1U) << cluster.layout();
  }
}

TEST(DistinctInstances, holds_under_every_policy_of_masters_where_instances_are_given) {
  for (const PolicyModule& module : known_policies()) {
    SCOPED_TRACE(module.name);
    Cluster cluster(m4(), module, module.name);
    cluster.add_to_fleet("4xlarge", 4);
    cluster.submit(apart(job_of(1, 3600, 1, 2, 4)));
    cluster.round();
    cluster.round();
    EXPECT_EQ(placed(cluster, 1), 4U) << cluster.layout();
    EXPECT_EQ(most_together(cluster, 1), 1U) << cluster.layout();
  }
}

TEST(MostAnInstance, holds_under_every_policy_of_masters_where_instances_are_rented) {
  for (const std::uint32_t most : {2U, 3U}) {
    for (const PolicyModule& module : known_policies()) {
      SCOPED_TRACE(module.name + " " + std::to_string(most));
      Cluster cluster(m4(), module, module.name);
      cluster.submit(job_of(1, 3600, 1, 2, 3));
      cluster.submit(at_most(most, job_of(2, 3600, 0.5, 1, 7)));
      cluster.round();
      cluster.round();
      EXPECT_EQ(placed(cluster, 2), 7U);
      EXPECT_LE(most_together(cluster, 2), most) << cluster.layout();
    }
  }
}

/// Some let each task have an instance of its own: they need rounds, and come to the end as well.
TEST(MostAnInstance, lets_every_policy_of_masters_complete_the_job_on_given_instances) {
  for (const PolicyModule& module : known_policies()) {
    SCOPED_TRACE(module.name);
    Cluster cluster(m4(), module, module.name);
    cluster.add_to_fleet("4xlarge", 2);
    cluster.submit(at_most(2, job_of(1, 3600, 1, 2, 7)));
    std::size_t finished = 0;
    for (int round = 0; round < 16 && finished < 7; ++round) {
      cluster.round();
      EXPECT_LE(most_together(cluster, 1), 2U) << cluster.layout();
      const JobRow* job = cluster.state().find(JobId{1});
      if (job == nullptr) break;
      for (const Slot slot : job->tasks) {
        const TaskRow& task = cluster.state().task(slot);
        if (task.phase != TaskPhase::running) continue;
        cluster.finish_task(task.id.value);
        ++finished;
        break;
      }
    }
    EXPECT_EQ(finished, 7U) << cluster.layout();
  }
}

TEST(DistinctInstances, rents_the_cheapest_type_for_each_and_a_smaller_one_for_who_is_left) {
  Cluster cluster(m4(), "eva,period_s=300");
  cluster.submit(job_of(1, 3600, 1, 4, 2));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "large(1 101)") << "else they share one";
  Cluster other(m4(), "eva,period_s=300");
  other.submit(apart(job_of(1, 3600, 2, 8, 3)));
  other.round();
  EXPECT_EQ(other.layout(), "large(1) large(101) large(102)");
}

TEST(DistinctInstances, leaves_plans_as_they_are_that_put_nothing_together) {
  Cluster cluster(m4(), "stratus,period_s=300");
  Cluster plain(m4(), "stratus,period_s=300");
  for (const std::uint64_t id : {1, 2, 3}) {
    cluster.submit(apart(job_of(id, 3600, 1, 2)));
    plain.submit(job_of(id, 3600, 1, 2));
  }
  cluster.round();
  plain.round();
  EXPECT_EQ(cluster.layout(), plain.layout()) << "tasks of different jobs may be together";
}

TEST(DistinctInstances, waits_where_fewer_instances_are_given_than_there_are_tasks) {
  Cluster cluster(m4(), "stratus,period_s=300");
  cluster.add_to_fleet("4xlarge", 2);
  cluster.submit(apart(job_of(1, 3600, 1, 2, 3)));
  cluster.round();
  EXPECT_EQ(placed(cluster, 1), 2U) << cluster.layout();
  cluster.finish_task(1);
  cluster.round();
  EXPECT_EQ(placed(cluster, 1), 2U) << cluster.layout();
  EXPECT_EQ(most_together(cluster, 1), 1U);
}

TEST(DistinctInstances, says_how_many_want_an_instance_of_a_fleet_and_how_many_there_are) {
  for (const char* policy : {"stratus", "hotspot", "no-packing"}) {
    SCOPED_TRACE(policy);
    Cluster cluster(m4(), policy);
    cluster.add_to_fleet("4xlarge", 2);
    cluster.submit(apart(job_of(1, 3600, 1, 2, 3)));
    cluster.round();
    ASSERT_EQ(placed(cluster, 1), 2U) << cluster.layout();
    const Refusal has_peers{RefusalKind::not_now, RefusalCode::distinct_instances, {}, 3, 2};
    std::size_t told = 0;
    for (Slot slot : cluster.state().find(JobId{1})->tasks) {
      const TaskRow& task = cluster.state().task(slot);
      told += task.phase == TaskPhase::pending && task.reason == has_peers;
    }
    EXPECT_EQ(told, 1U);
    EXPECT_TRUE(cluster.ask().refusals.empty()) << "it is no news";
  }
}

TEST(DistinctInstances, says_what_is_lacking_where_an_instance_without_a_peer_has_no_room) {
  Cluster cluster(m4(), "stratus,period_s=300");
  cluster.add_to_fleet("large", 2);
  cluster.submit(job_of(1, 3600, 2, 8, 1));
  cluster.round();
  cluster.submit(apart(job_of(2, 3600, 2, 8, 2)));
  cluster.round();
  ASSERT_EQ(placed(cluster, 2), 1U) << cluster.layout();
  const Refusal lacks{RefusalKind::not_now, RefusalCode::awaiting_capacity, Resource::cpu, 2, 0};
  EXPECT_TRUE(cluster.state().find(TaskId{2})->reason == lacks ||
              cluster.state().find(TaskId{201})->reason == lacks);
  EXPECT_TRUE(cluster.ask().refusals.empty()) << "it is no news";
}

/// Instances of one type, which the policy has rented one each for tasks of 9 of 16 CPUs.
Cluster of_large_tasks(const std::string& policy, std::size_t tasks) {
  Cluster cluster(Catalog({testing::type_of("one", "m4", Resources::of(0, 16, 64), 0.8)}), policy);
  cluster.submit(job_of(1, 36'000, 9, 4, tasks));
  cluster.round();
  cluster.cap(tasks);
  return cluster;
}

/// Different present instances on which the plan has a place for a task of the job.
std::size_t joined(const Cluster& cluster, const Plan& plan, std::uint64_t job) {
  std::set<InstanceId> joined;
  for (const Place& place : plan.places) {
    const auto* id = std::get_if<InstanceId>(&place.to);
    const TaskRow& task = *cluster.state().find(place.task);
    if (id != nullptr && cluster.state().job(task.job).job.id == JobId{job}) joined.insert(*id);
  }
  return joined.size();
}

const std::vector<std::string> kThatShare{
    "eva",     "eva,paper",        "eva,artifact", "muster",         "hcoop",
    "stratus", "stratus,artifact", "spot-fleet",   "supercloud,dot", "synergy"};

TEST(DistinctInstances, gets_places_on_all_instances_with_room_where_no_more_may_be_rented) {
  for (const std::string& policy : kThatShare) {
    SCOPED_TRACE(policy);
    Cluster cluster = of_large_tasks(policy, 3);
    ASSERT_EQ(cluster.state().instances().size(), 3U);
    cluster.submit(apart(job_of(2, 36'000, 2, 4, 5)));
    const Plan plan = cluster.ask();
    EXPECT_EQ(joined(cluster, plan, 2), 3U) << "each of the three has room for one of the five";
    EXPECT_TRUE(plan.releases.empty());
  }
}

TEST(DistinctInstances, does_not_give_instances_back_that_its_tasks_can_have) {
  for (const std::string& policy : kThatShare) {
    SCOPED_TRACE(policy);
    Cluster cluster = of_large_tasks(policy, 4);
    ASSERT_EQ(cluster.state().instances().size(), 4U);
    cluster.finish(1);
    cluster.submit(apart(job_of(2, 36'000, 2, 4, 4)));
    const Plan plan = cluster.ask();
    EXPECT_EQ(joined(cluster, plan, 2), 4U);
    EXPECT_TRUE(plan.releases.empty());
    EXPECT_TRUE(plan.launches.empty());
  }
}

/// The first running task of the job has to leave, and will only when the cluster says so.
void evict_one(Cluster& cluster, std::uint64_t job) {
  Plan stop;
  for (const Slot slot : cluster.state().find(JobId{job})->tasks) {
    const TaskRow& task = cluster.state().task(slot);
    if (task.phase != TaskPhase::running) continue;
    stop.stops.push_back({task.id, {CauseCode::evicted, 0}});
    break;
  }
  cluster.begin(stop);
}

TEST(DistinctInstances, goes_beside_no_task_of_its_job_that_has_still_to_leave) {
  for (const std::string& policy : kThatShare) {
    SCOPED_TRACE(policy);
    Cluster cluster(m4(), policy);
    cluster.add_to_fleet("4xlarge", 2);
    cluster.submit(apart(job_of(2, 36'000, 2, 4, 3)));
    cluster.round();
    ASSERT_EQ(placed(cluster, 2), 2U) << cluster.layout();
    evict_one(cluster, 2);
    EXPECT_EQ(joined(cluster, cluster.ask(), 2), 0U) << cluster.layout();
  }
}

TEST(MostAnInstance, uses_all_the_places_that_instances_have_for_the_job) {
  for (const std::string& policy : kThatShare) {
    SCOPED_TRACE(policy);
    Cluster cluster(m4(), policy);
    cluster.add_to_fleet("4xlarge", 2);
    cluster.submit(at_most(2, job_of(2, 36'000, 2, 4, 5)));
    cluster.round();
    EXPECT_EQ(placed(cluster, 2), 4U) << cluster.layout();
    EXPECT_EQ(most_together(cluster, 2), 2U) << cluster.layout();
    evict_one(cluster, 2);
    EXPECT_EQ(joined(cluster, cluster.ask(), 2), 0U) << "it has still to leave";
  }
}

TEST(MostAnInstance, says_how_many_tasks_want_places_and_how_many_there_are) {
  Cluster cluster(m4(), "stratus");
  cluster.add_to_fleet("4xlarge", 2);
  cluster.submit(at_most(2, job_of(1, 3600, 1, 2, 5)));
  cluster.round();
  ASSERT_EQ(placed(cluster, 1), 4U) << cluster.layout();
  const Refusal full{RefusalKind::not_now, RefusalCode::distinct_instances, {}, 5, 4};
  std::size_t told = 0;
  for (Slot slot : cluster.state().find(JobId{1})->tasks) {
    const TaskRow& task = cluster.state().task(slot);
    told += task.phase == TaskPhase::pending && task.reason == full;
  }
  EXPECT_EQ(told, 1U);
}

TEST(MostAnInstance, places_a_gang_as_closely_as_it_may_be_and_no_closer) {
  for (const std::string& policy : kThatShare) {
    SCOPED_TRACE(policy);
    Cluster cluster(m4(), policy);
    cluster.add_to_fleet("4xlarge", 2);
    Job gang = at_most(2, job_of(1, 36'000, 2, 4, 4));
    gang.gang = true;
    cluster.submit(gang);
    cluster.round();
    cluster.round();
    EXPECT_EQ(placed(cluster, 1), 4U) << cluster.layout();
    EXPECT_EQ(most_together(cluster, 1), 2U) << cluster.layout();
  }
}

/// Tasks of the job without a place that an instance without another of its tasks has room for.
std::size_t idle(const Cluster& cluster, std::uint64_t job) {
  const ClusterState& state = cluster.state();
  const JobRow& row = *state.find(JobId{job});
  std::size_t free = 0, waiting = 0;
  for (const InstanceRow& on : state.instances()) {
    const TaskRow& first = state.task(row.tasks.front());
    const Resources left = cluster.catalog()[on.type].capacity - on.committed;
    const bool peer = std::any_of(on.planned.begin(), on.planned.end(),
                                  [&](Slot slot) { return state.task(slot).job == row.slot; });
    free += !peer && state.demand(first, on.type)->amount.fits_in(left);
  }
  for (const Slot slot : row.tasks) waiting += state.task(slot).phase == TaskPhase::pending;
  return std::min(free, waiting);
}

TEST(DistinctInstances, uses_every_instance_of_a_fleet_that_has_room_and_no_peer) {
  for (const char* policy : {"muster", "eva", "spot-fleet", "hcoop"}) {
    for (const double cpu : {1.0, 3.0, 6.0, 14.0}) {
      SCOPED_TRACE(policy + std::string(" ") + std::to_string(cpu));
      Cluster cluster(m4(), policy);
      cluster.add_to_fleet("2xlarge", 2);
      cluster.add_to_fleet("4xlarge", 3);
      cluster.submit(job_of(1, 3600, cpu, 4, 3));
      cluster.round();
      cluster.submit(apart(job_of(2, 3600, 2, 4, 9)));
      cluster.round();
      EXPECT_EQ(idle(cluster, 2), 0U) << cluster.layout();
      cluster.finish(1);
      cluster.round();
      EXPECT_EQ(idle(cluster, 2), 0U) << cluster.layout();
      for (const Slot slot : cluster.state().find(JobId{2})->tasks) {
        const TaskRow& task = cluster.state().task(slot);
        if (task.phase == TaskPhase::running) cluster.finish_task(task.id.value);
        break;
      }
      cluster.round();
      EXPECT_EQ(idle(cluster, 2), 0U) << cluster.layout();
    }
  }
}

TEST(DistinctInstances, do_not_scatter_the_tasks_of_other_jobs_over_instances_of_their_own) {
  Cluster cluster(Catalog({testing::type_of("one", "m4", Resources::of(0, 16, 64), 0.8)}),
                  "supercloud");
  cluster.submit(apart(job_of(1, 36'000, 2, 4, 4)));
  cluster.submit(job_of(1'000, 36'000, 2, 4, 40));
  const Plan plan = cluster.ask();
  EXPECT_EQ(plan.places.size(), 44U);
  EXPECT_EQ(plan.launches.size(), 6U) << "of eight places each";
}

TEST(DistinctInstances, move_nobody_else_where_one_would_meet_a_peer_that_has_still_to_leave) {
  Cluster cluster(Catalog({testing::type_of("one", "m4", Resources::of(0, 16, 64), 0.8)}),
                  "eva,paper");
  cluster.submit(job_of(1, 36'000, 9, 4, 2));
  cluster.round();
  cluster.submit(apart(job_of(2, 36'000, 2, 4, 3)));
  Plan first = cluster.ask();
  first.launches.clear();
  std::erase_if(first.places,
                [](const Place& place) { return !std::holds_alternative<InstanceId>(place.to); });
  cluster.apply_plan(first);
  ASSERT_EQ(placed(cluster, 2), 2U) << cluster.layout();
  evict_one(cluster, 2);
  const Plan plan = cluster.ask();
  for (const Place& place : plan.places) EXPECT_NE(place.task, TaskId{1}) << cluster.layout();
}

TEST(DistinctInstances, go_on_to_the_next_empty_instance_where_a_peer_has_still_to_leave_one) {
  for (const char* policy : {"owl", "no-packing"}) {
    SCOPED_TRACE(policy);
    Cluster cluster(m4(), policy);
    cluster.add_to_fleet("4xlarge", 2);
    cluster.submit(apart(job_of(1, 36'000, 2, 4, 3)));
    cluster.round();
    ASSERT_EQ(placed(cluster, 1), 2U) << cluster.layout();
    evict_one(cluster, 1);
    cluster.finish_task(101);
    EXPECT_EQ(joined(cluster, cluster.ask(), 1), 1U) << cluster.layout();
  }
}

TEST(EmptyRooms, are_passed_by_once_while_a_job_asks_and_are_open_to_others) {
  for (const std::uint32_t count : {500U, 1'000U}) {
    EmptyRooms rooms;
    for (std::uint32_t room = 0; room < 2 * count; ++room) rooms.add(room);
    std::size_t asked = 0;
    const RoomRule rule{{7}, [&](std::uint64_t room) {
                          ++asked;
                          return room >= count;
                        }};
    for (std::uint32_t task = 0; task < count; ++task) {
      ASSERT_EQ(rooms.first(rule), count + task);
      rooms.take(count + task);
    }
    EXPECT_EQ(rooms.first(rule), std::nullopt);
    EXPECT_EQ(asked, 2 * count);
    EXPECT_EQ(rooms.first({}), 0U);
  }
}

}  // namespace
}  // namespace muster

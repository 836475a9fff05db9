#include <gtest/gtest.h>

#include <string>

#include "tests/schedulers/cluster.hpp"

namespace muster::testing {
namespace {

using test::JobBuilder;

Job small(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(0, 4, 12)).build();
}
Job large(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(2, 8, 24)).build();
}

Job medium(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(1, 4, 10)).build();
}

Catalog times_dearer(const Catalog& catalog, double factor) {
  std::vector<InstanceType> types = catalog.types();
  for (InstanceType& type : types)
    type.on_demand = Price::from_usd_h(type.on_demand.usd_h() * factor);
  return Catalog(std::move(types));
}

TEST(MusterPolicy, puts_tasks_together_that_are_worth_one_instance_together) {
  Cluster cluster(table_3(), "muster,t=0.99");
  cluster.submit(large(1));
  cluster.submit(medium(2));
  cluster.submit(small(3));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(1 2 3)") << "$15.4 an hour of work on an instance of $12";
}

TEST(MusterPolicy, keeps_tasks_apart_that_would_lose_more_than_an_instance_costs) {
  Cluster cluster(table_3(), "muster,t=0.9");
  cluster.submit(large(1));
  cluster.submit(small(2));
  cluster.round();
  EXPECT_EQ(cluster.state().instances().size(), 2u) << cluster.layout();
}

TEST(MusterPolicy, moves_what_is_left_to_a_cheaper_instance) {
  Cluster cluster(table_3(), "muster");
  cluster.submit(large(1));
  cluster.submit(medium(2));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 2)");
  cluster.finish(1);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it2(2)");
}

TEST(MusterPolicy, the_scale_of_prices_changes_no_plan) {
  std::vector<std::string> layouts;
  for (const double factor : {1.0, 0.01, 1000.0}) {
    Cluster cluster(times_dearer(table_3(), factor), "muster");
    std::string all;
    for (std::uint64_t id = 1; id <= 9; ++id) {
      cluster.submit(id % 3 == 0 ? large(id) : small(id));
      if (id % 2 == 0) cluster.round();
      all += cluster.layout() + "; ";
    }
    cluster.finish(3);
    cluster.round();
    layouts.push_back(all + cluster.layout());
  }
  EXPECT_EQ(layouts[1], layouts[0]);
  EXPECT_EQ(layouts[2], layouts[0]);
}

TEST(MusterPolicy, is_never_worth_less_than_what_it_began_with_however_little_it_may_look_at) {
  for (const std::uint64_t steps : {1U, 50U, 500U, 5000U, 0U}) {
    Cluster cluster(table_3(), "muster");
    cluster.allow(steps);
    for (std::uint64_t id = 1; id <= 12; ++id) {
      cluster.submit(id % 4 == 0 ? large(id) : small(id));
      const Plan plan = cluster.round();
      EXPECT_GE(figure(plan, "value_usd_h"), figure(plan, "greedy_usd_h") - 1e-9);
    }
  }
}

TEST(MusterPolicy, leaves_tasks_where_they_are_that_must_not_be_moved) {
  Cluster cluster(table_3(), "muster");
  Job fixed = medium(2);
  fixed.movable = false;
  cluster.submit(large(1));
  cluster.submit(fixed);
  cluster.round();
  const InstanceId before = cluster.state().instance(cluster.state().find(TaskId{2})->at).id;
  cluster.finish(1);
  cluster.round();
  EXPECT_EQ(cluster.state().instance(cluster.state().find(TaskId{2})->at).id, before);
}

TEST(MusterPolicy, the_tasks_of_a_gang_all_get_a_place_at_once) {
  Cluster cluster(table_3(), "muster");
  cluster.submit(JobBuilder(1).tasks(3).gang(true).demand(Resources::of(1, 4, 10)).build());
  cluster.round();
  EXPECT_TRUE(cluster.state().pending().empty());
}

TEST(MusterPolicy, a_gang_is_moved_as_a_whole_when_a_job_beside_it_ends) {
  Cluster cluster(table_3(), "muster,t=0.99");
  cluster.submit(large(1));
  cluster.submit(JobBuilder(2).tasks(2).gang(true).demand(Resources::of(0, 4, 12)).build());
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 2 201)");
  cluster.finish(1);
  const Plan plan = cluster.round();
  EXPECT_TRUE(cluster.state().pending().empty());
  EXPECT_EQ(cluster.layout().find("it1"), std::string::npos) << cluster.layout();
  for (const Place& place : plan.places) EXPECT_EQ(place.group, 1u) << "all or none";
}

TEST(MusterPolicy, learns_from_gangs_whom_not_to_put_together) {
  Cluster cluster(table_3(), "muster,t=0.99");
  const auto gang = [](std::uint64_t id, const std::string& cls) {
    return JobBuilder(id).tasks(2).gang(true).demand(Resources::of(1, 4, 10)).workload_class(cls);
  };
  cluster.submit(large(9));
  cluster.submit(gang(1, "a").build());
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 9 101)");
  std::map<std::uint64_t, double> slow{{9, 0.3}, {1, 0.3}, {101, 0.3}};
  for (int i = 0; i < 8; ++i) cluster.round(slow);
  EXPECT_GT(cluster.state().instances().size(), 1u) << cluster.layout();
}

TEST(MusterPolicy, on_a_fixed_fleet_the_job_with_the_fewest_unstarted_tasks_goes_first) {
  Cluster cluster(table_3(), "muster");
  cluster.add_to_fleet("it4");
  cluster.submit(JobBuilder(1).tasks(5).gang(false).demand(Resources::of(0, 4, 12)).build());
  cluster.submit(small(2));
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.places.size(), 1u);
  EXPECT_EQ(plan.places[0].task, TaskId{2});
  EXPECT_TRUE(plan.launches.empty());
}

TEST(MusterPolicy, on_a_fixed_fleet_a_gang_takes_room_for_all_of_it_or_none) {
  Cluster cluster(table_3(), "muster");
  cluster.add_to_fleet("it4");
  cluster.submit(JobBuilder(1).tasks(2).gang(true).demand(Resources::of(0, 4, 12)).build());
  cluster.submit(JobBuilder(5).tasks(3).gang(false).demand(Resources::of(0, 4, 12)).build());
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.places.size(), 1u);
  EXPECT_NE(plan.places[0].task, TaskId{1});
}

TEST(MusterPolicy, on_a_fixed_fleet_what_a_gang_gives_back_is_there_for_the_next_of_its_shape) {
  Cluster cluster(table_3(), "muster");
  cluster.add_to_fleet("it4", 2);
  cluster.submit(JobBuilder(1).tasks(3).gang(true).demand(Resources::of(0, 4, 12)).build());
  cluster.submit(JobBuilder(5).tasks(4).gang(false).demand(Resources::of(0, 4, 12)).build());
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.places.size(), 2u);
  EXPECT_NE(plan.places[0].to, plan.places[1].to) << "each instance holds one";
}

TEST(MusterPolicy, another_one_that_was_given_its_memory_decides_as_it_does) {
  Cluster cluster(table_3(), "muster");
  for (std::uint64_t id = 1; id <= 6; ++id) {
    cluster.submit(id % 3 == 0 ? large(id) : small(id));
    cluster.round({{1, 0.8}});
  }
  const std::string memory = cluster.policy().save_state(cluster.state());
  const auto other = find_module("muster").value()->make_policy({"muster", {}}, cluster.catalog());
  ASSERT_TRUE(other.value()->load_state(memory, cluster.view()));
  EXPECT_EQ(other.value()->save_state(cluster.state()), memory);
  EXPECT_FALSE(other.value()->load_state("{\"rates\":[]}", cluster.view()));
  EXPECT_FALSE(other.value()->load_state("something else", cluster.view()));
}

}  // namespace
}  // namespace muster::testing

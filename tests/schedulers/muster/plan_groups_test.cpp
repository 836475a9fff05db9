#include "schedulers/muster/plan_groups.hpp"

#include <gtest/gtest.h>

#include "tests/schedulers/cluster.hpp"

namespace muster::own {
namespace {

using muster::testing::Cluster;
using test::JobBuilder;

Job job(std::uint64_t id, double gpus, double cpus, double gb) {
  return JobBuilder(id).demand(Resources::of(gpus, cpus, gb)).build();
}

TEST(PlanGroups, what_only_starts_tasks_has_no_group) {
  Cluster cluster(muster::testing::table_3(), "muster");
  cluster.submit(job(1, 2, 8, 24));
  cluster.submit(job(2, 0, 4, 12));
  const Plan plan = cluster.ask();
  ASSERT_FALSE(plan.places.empty());
  for (const Place& place : plan.places) EXPECT_EQ(place.group, 0u);
  for (const Launch& launch : plan.launches) EXPECT_EQ(launch.group, 0u);
}

TEST(PlanGroups, a_task_that_moves_goes_with_what_it_is_rented_for_and_what_it_leaves) {
  Cluster cluster(muster::testing::table_3(), "muster");
  cluster.submit(job(1, 2, 8, 24));
  cluster.submit(job(2, 1, 4, 10));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 2)");
  cluster.finish(1);
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.places.size(), 1u);
  ASSERT_EQ(plan.launches.size(), 1u);
  ASSERT_EQ(plan.releases.size(), 1u);
  EXPECT_NE(plan.places[0].group, 0u);
  EXPECT_EQ(plan.launches[0].group, plan.places[0].group);
  EXPECT_EQ(plan.releases[0].group, plan.places[0].group);
}

TEST(PlanGroups, moves_between_other_instances_are_groups_of_their_own) {
  Cluster cluster(muster::testing::table_3(), "muster");
  for (std::uint64_t id = 1; id <= 2; ++id) cluster.submit(job(id, 0, 4, 12));
  cluster.add_to_fleet("it4", 2);
  cluster.apply_plan(cluster.ask());
  ReservationPrices prices(cluster.catalog());
  TaskKinds kinds(false);
  RoundInput input;
  const ClusterView view = cluster.view();
  input.gather({view, MarketChoice::on_demand}, prices, kinds);
  ASSERT_EQ(input.tasks().size(), 2u);
  Plan plan;
  for (std::uint32_t i = 0; i < 2; ++i) {
    plan.launches.push_back({test::type_named(cluster.catalog(), "it4"), Market::on_demand, {}});
    plan.places.push_back({input.tasks()[i].id, LaunchIndex{i}, {}});
    plan.releases.push_back({input.instances()[input.tasks()[i].home].id, {}});
  }
  group_moves(input, plan);
  EXPECT_NE(plan.places[0].group, 0u);
  EXPECT_NE(plan.places[1].group, 0u);
  EXPECT_NE(plan.places[0].group, plan.places[1].group);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(plan.launches[i].group, plan.places[i].group);
    EXPECT_EQ(plan.releases[i].group, plan.places[i].group);
  }
}

TEST(PlanGroups, a_gang_belongs_together_wherever_its_tasks_go) {
  RoundInput input;
  Cluster cluster(muster::testing::table_3(), "muster");
  cluster.submit(JobBuilder(1).tasks(2).gang(true).demand(Resources::of(1, 4, 10)).build());
  cluster.round();
  ReservationPrices prices(cluster.catalog());
  TaskKinds kinds(false);
  const ClusterView view = cluster.view();
  input.gather({view, MarketChoice::on_demand}, prices, kinds);
  Plan plan;
  for (const RoundInput::Task& task : input.tasks()) plan.stops.push_back({task.id, {}});
  group_moves(input, plan);
  ASSERT_EQ(plan.stops.size(), 2u);
  EXPECT_NE(plan.stops[0].group, 0u);
  EXPECT_EQ(plan.stops[0].group, plan.stops[1].group);
}

}  // namespace
}  // namespace muster::own

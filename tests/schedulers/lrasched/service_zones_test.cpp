#include "schedulers/lrasched/service_zones.hpp"

#include <gmock/gmock.h>

#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "schedulers/lrasched/service_placer.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster::lrasched {
namespace {

using ::muster::testing::Cluster;
using ::muster::testing::table_3;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// A service of six replicas that ask for that many cores, two on an instance at most.
Job six(double cpus, const std::string& constraint = "") {
  Job job = ::muster::test::JobBuilder(1)
                .tasks(6)
                .demand(Resources::of(0, cpus, cpus))
                .gang(false)
                .build();
  job.constraint = constraint;
  ServiceSpec spec;
  spec.replicas = 6;
  spec.goal = {.metric = "performance", .bound = 0.5, .at_least = true};
  job.kind = spec;
  return job;
}

/// How much more the types without a GPU cost in each zone than the catalog says.
using Factors = std::map<std::string, double>;
Cluster market(const std::string& policy, const Factors& factors) {
  Cluster cluster(table_3(), policy);
  for (const std::string type : {"it3", "it4"}) {
    const double usd_h = cluster.price(muster::test::type_named(cluster.catalog(), type)).usd_h();
    for (const auto& [zone, factor] : factors) {
      cluster.change({type, Market::on_demand, zone, Price::from_usd_h(usd_h * factor)});
    }
  }
  return cluster;
}

/// Replicas on what the plan rents, by zone.
std::map<std::string, int> by_zone(const Plan& plan) {
  std::map<std::string, int> replicas;
  for (const Place& place : plan.places) {
    if (const auto* launch = std::get_if<LaunchIndex>(&place.to)) {
      ++replicas[plan.launches[launch->value].zone];
    }
  }
  return replicas;
}
std::map<std::string, int> zones_of(const std::string& policy, const Factors& factors, Job job) {
  Cluster cluster = market(policy, factors);
  cluster.submit(std::move(job));
  return by_zone(cluster.ask());
}

TEST(ServiceZones, have_as_many_replicas_each_where_prices_are_alike) {
  EXPECT_THAT(zones_of("lrasched", {{"a", 1}, {"b", 1}, {"c", 1}}, six(1)),
              ElementsAre(Pair("a", 2), Pair("b", 2), Pair("c", 2)));
  EXPECT_THAT(zones_of("lrasched,goal_limit=0", {{"a", 1}, {"b", 1}, {"c", 1}}, six(2)),
              ElementsAre(Pair("a", 2), Pair("b", 2), Pair("c", 2)))
      << "smaller instances cost no more";
}

TEST(ServiceZones, are_used_as_far_as_they_cost_no_more_than_the_bound) {
  const Factors factors{{"a", 1.3}, {"b", 1}, {"c", 1.05}, {"d", 1.2}};
  EXPECT_THAT(zones_of("lrasched,limit=1", factors, six(1)),
              ElementsAre(Pair("b", 3), Pair("c", 3)));
  EXPECT_THAT(zones_of("lrasched,limit=1,spread=0.25", factors, six(1)),
              ElementsAre(Pair("b", 2), Pair("c", 2), Pair("d", 2)));
}

TEST(ServiceZones, are_left_out_while_the_cloud_has_no_instance_there) {
  Cluster cluster = market("lrasched,limit=1", {{"a", 1}, {"b", 1}, {"c", 1}});
  for (const std::string type : {"it3", "it4"}) {
    cluster.change({type, Market::on_demand, "b", Price::from_usd_h(0.4), false});
  }
  cluster.submit(six(1));
  EXPECT_THAT(by_zone(cluster.ask()), ElementsAre(Pair("a", 3), Pair("c", 3)));
}

TEST(ServiceZones, are_not_looked_at_where_there_is_one_or_the_policy_is_told_so) {
  const auto plan_of = [](const std::string& policy, const Factors& factors) {
    Cluster cluster = market(policy, factors);
    cluster.submit(six(1));
    return cluster.ask();
  };
  const Plan without = plan_of("lrasched,spread=0", {});
  for (const Plan& plan : {plan_of("lrasched", {}), plan_of("lrasched", {{"a", 1}}),
                           plan_of("lrasched,spread=0", {{"a", 1}, {"b", 1}})}) {
    EXPECT_EQ(by_zone(plan), by_zone(without));
    ASSERT_EQ(plan.launches.size(), without.launches.size());
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
      EXPECT_EQ(plan.launches[i].type, without.launches[i].type);
      EXPECT_THAT(plan.launches[i].zone, IsEmpty());
    }
  }
}

/// The small type without a GPU in two zones, by its label.
Catalog labelled() {
  std::vector<InstanceType> types;
  for (const std::string zone : {"a", "b"}) {
    InstanceType type = table_3()[muster::test::type_named(table_3(), "it4")];
    type.name += "-" + zone;
    type.labels = {{"zone", zone}};
    types.push_back(std::move(type));
  }
  return Catalog(std::move(types));
}

TEST(ServiceZones, are_those_of_the_types_of_a_fleet) {
  const auto layout_of = [](const std::string& policy, const std::string& constraint) {
    Cluster cluster(labelled(), policy);
    cluster.add_to_fleet("it4-a", 3);
    cluster.add_to_fleet("it4-b", 3);
    cluster.submit(six(1, constraint));
    cluster.round();
    std::map<char, std::size_t> replicas;
    for (const InstanceRow& row : cluster.state().instances()) {
      replicas[cluster.catalog()[row.type].name.back()] += row.planned.size();
    }
    return replicas;
  };
  EXPECT_THAT(layout_of("lrasched", ""), UnorderedElementsAre(Pair('a', 3), Pair('b', 3)));
  EXPECT_THAT(layout_of("lrasched", "zone=b"), UnorderedElementsAre(Pair('a', 0), Pair('b', 6)));
}

/// Rooms of one dimension, each of a zone.
NodeRooms rooms_of(const std::vector<std::pair<double, std::uint32_t>>& nodes) {
  NodeRooms rooms(1);
  for (const auto& [room, zone] : nodes) rooms.add({room}, 0, zone);
  return rooms;
}

TEST(ServicePlacer, takes_the_zone_that_has_fewest_replicas_and_unknown_ones_last) {
  NodeRooms rooms = rooms_of({{8, 0}, {4, 1}, {8, 1}, {8, 2}, {2, 3}});
  const Service service{.size = {1}, .replicas = 8, .most_a_node = 8};
  const Demand demand(std::span(&service, 1));
  const Fitness fitness(Fit::balanced, service.size, scale_of(demand, rooms));
  ServicePlacer placer(rooms);
  Spots spots{{3, 1}};
  ASSERT_TRUE(placer.place(service, fitness, spots));
  std::vector<std::uint32_t> in_zone(4, 0);
  for (const Spot& spot : spots) in_zone[rooms.zone(spot.node)] += spot.count;
  EXPECT_THAT(in_zone, ElementsAre(0, 3, 4, 2)) << "zone 3 is full";
  Service more = service;
  more.replicas = 16;
  more.most_a_node = 100;
  ASSERT_TRUE(placer.place(more, fitness, spots));
  EXPECT_EQ(count_at(spots, 0), 2U) << "no other has room";
}

}  // namespace
}  // namespace muster::lrasched

#include "schedulers/packing/types/cheapest_types.hpp"

#include <gtest/gtest.h>

#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using testing::Cluster;
using testing::type_of;

/// Of one size with much memory and with little, and a small one; on spot the other way round.
Catalog sizes() {
  std::vector<InstanceType> types{type_of("r", "r", Resources::of(0, 4, 32), 0.2646),
                                  type_of("c", "c", Resources::of(0, 4, 8), 0.1785),
                                  type_of("tiny", "c", Resources::of(0, 2, 4), 0.08925)};
  types[0].spot = Price::from_usd_h(0.05);
  types[1].spot = Price::from_usd_h(0.06);
  types[2].spot = Price::from_usd_h(0.04);
  return Catalog(std::move(types));
}

Job one_core(std::uint64_t id, double memory_gib = 1) {
  return test::JobBuilder(id).demand(Resources::of(0, 1, memory_gib)).gang(false).build();
}

Job with_speeds(std::uint64_t id, double on_r, double on_c) {
  const Resources amount = Resources::of(0, 4, 4);
  return test::JobBuilder(id)
      .demands(Demands({{"r", amount, on_r}, {"c", amount, on_c}}))
      .gang(false)
      .build();
}

/// What becomes of the launch of an `r` for all the waiting tasks.
std::string type_for(const Cluster& cluster, Market market = Market::on_demand) {
  Plan plan;
  plan.launches = {{test::type_named(cluster.catalog(), "r"), market, {CauseCode::packed, 1}}};
  for (const TaskRow& task : cluster.state().pending()) {
    plan.places.push_back({task.id, LaunchIndex{0}, {CauseCode::packed, 1}});
  }
  PlacementMask mask;
  mask.learn(cluster.state());
  use_cheapest_types(cluster.view(), mask, plan);
  const InstanceType& chosen = cluster.catalog()[plan.launches[0].type];
  EXPECT_NEAR(plan.launches[0].cause.gain_usd_h,
              1 + cluster.catalog().price(TypeId{0}, market).usd_h() -
                  cluster.catalog().price(plan.launches[0].type, market).usd_h(),
              1e-9);
  for (const Place& place : plan.places) EXPECT_EQ(place.cause, plan.launches[0].cause);
  return chosen.name;
}

TEST(CheapestTypes, takes_the_cheapest_on_which_all_tasks_fit) {
  Cluster cluster(sizes(), "no-packing");
  cluster.submit(one_core(1));
  cluster.submit(one_core(2));
  EXPECT_EQ(type_for(cluster), "tiny");
  cluster.submit(one_core(3));
  EXPECT_EQ(type_for(cluster), "c");
  cluster.submit(one_core(4, 8));
  EXPECT_EQ(type_for(cluster), "r") << "11 GiB together";
}

TEST(CheapestTypes, stays_on_the_market) {
  Cluster cluster(sizes(), "no-packing");
  for (std::uint64_t id : {1, 2, 3}) cluster.submit(one_core(id));
  EXPECT_EQ(type_for(cluster, Market::spot), "r") << "the cheapest of this size there";
}

TEST(CheapestTypes, lets_no_task_run_slower) {
  Cluster slower(sizes(), "no-packing");
  slower.submit(with_speeds(1, 1, 0.99));
  EXPECT_EQ(type_for(slower), "r");
  Cluster as_fast(sizes(), "no-packing");
  as_fast.submit(with_speeds(1, 0.5, 0.5));
  EXPECT_EQ(type_for(as_fast), "c");
}

TEST(CheapestTypes, goes_to_no_family_that_a_task_does_not_name) {
  Cluster cluster(sizes(), "no-packing");
  cluster.submit(test::JobBuilder(1).demands(Demands({{"r", Resources::of(0, 1, 1), 1}})).build());
  EXPECT_EQ(type_for(cluster), "r");
}

TEST(CheapestTypes, asks_for_nothing_that_the_cloud_has_just_refused) {
  Cluster cluster(sizes(), "no-packing");
  for (std::uint64_t id : {1, 2, 3}) cluster.submit(one_core(id));
  cluster.rest("c");
  EXPECT_EQ(type_for(cluster), "r");
}

TEST(CheapestTypes, eva_packs_four_small_tasks_on_what_holds_them) {
  for (const std::string policy : {"eva", "eva,paper", "eva,artifact"}) {
    Cluster cluster(sizes(), policy + ",rp");
    for (std::uint64_t id : {1, 2, 3, 4}) cluster.submit(one_core(id));
    const Plan plan = cluster.round();
    EXPECT_EQ(cluster.layout(), policy == "eva,paper" ? "r(1 2 3 4)" : "c(1 2 3 4)") << policy;
    if (policy == "eva") {
      EXPECT_NEAR(plan.launches[0].cause.gain_usd_h, 4 * 0.08925 - 0.1785, 1e-9);
    }
  }
}

TEST(CheapestTypes, eva_finds_the_instance_again_in_the_next_round) {
  Cluster cluster(sizes(), "eva,rp,full-only");
  for (std::uint64_t id : {1, 2, 3, 4}) cluster.submit(one_core(id));
  cluster.round();
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "c(1 2 3 4)");
  EXPECT_TRUE(plan.launches.empty() && plan.places.empty() && plan.releases.empty());
}

TEST(CheapestTypes, eva_leaves_a_dear_instance_for_a_cheap_one_when_that_pays) {
  Cluster cluster(sizes(), "eva,rp");
  cluster.rest("c");
  for (std::uint64_t id : {1, 2, 3, 4}) cluster.submit(one_core(id));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "r(1 2 3 4)");
  cluster.end_rest();
  cluster.let_pass(std::chrono::hours{10});
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.note.choice, "full");
  EXPECT_EQ(cluster.layout(), "c(1 2 3 4)");
}

TEST(CheapestTypes, no_packing_and_hcoop_rent_the_cheapest_as_they_did) {
  for (const char* policy : {"no-packing", "hcoop"}) {
    Cluster cluster(sizes(), policy);
    cluster.submit(one_core(1));
    cluster.round();
    EXPECT_EQ(cluster.layout(), "tiny(1)") << policy;
  }
}

TEST(CheapestTypes, keep_tasks_on_instances_that_are_there_while_their_type_is_refused) {
  Cluster cluster(sizes(), "eva,rp,full-only");
  for (std::uint64_t id : {1, 2, 3}) cluster.submit(one_core(id));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "c(1 2 3)");
  cluster.rest("c");
  const Plan plan = cluster.round();
  EXPECT_TRUE(plan.launches.empty());
  EXPECT_EQ(cluster.layout(), "c(1 2 3)");
}

TEST(CheapestTypes, are_asked_for_again_so_that_nothing_is_settled_while_one_is_refused) {
  Cluster cluster(sizes(), "eva,rp,partial-only");
  Job job = one_core(1);
  job.checkpoints = true;  // what it has run is no reason to look again
  cluster.submit(job);
  for (int rounds = 0; rounds < 4; ++rounds) cluster.round();  // until nothing is learnt any more
  ASSERT_TRUE(cluster.policy().settled(cluster.view()));
  cluster.rest("tiny");
  cluster.round();
  EXPECT_FALSE(cluster.policy().settled(cluster.view()));
  cluster.end_rest();
  cluster.round();
  EXPECT_TRUE(cluster.policy().settled(cluster.view()));
}

}  // namespace
}  // namespace muster

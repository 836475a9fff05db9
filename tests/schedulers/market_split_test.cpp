#include "schedulers/market_split.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/muster/offered.hpp"

namespace muster::testing {
namespace {

using own::table_3_on_both_markets;
using test::JobBuilder;

Job small(std::uint64_t id, MarketChoice markets = MarketChoice::any) {
  Job job = JobBuilder(id).demand(Resources::of(0, 4, 12)).build();
  job.markets = markets;
  return job;
}

/// On which market the task is meant to run; nothing while it has no place.
std::optional<Market> market_of(const Cluster& cluster, std::uint64_t job, std::size_t task = 0) {
  const ClusterState& state = cluster.state();
  const TaskRow& row = state.task(state.find(JobId{job})->tasks[task]);
  if (row.target == kNoSlot) return std::nullopt;
  return state.instance(row.target).market;
}

class MarketSplitTest : public ::testing::TestWithParam<std::string> {
 protected:
  Cluster cluster_of(const std::string& parameters) const {
    return {table_3_on_both_markets(), GetParam() + parameters};
  }
};

TEST_P(MarketSplitTest, JobsThatTakeAnyMarketRunOnDemandUnlessTheyAreAllowedOnSpot) {
  Cluster asked = cluster_of("");
  Cluster allowed = cluster_of(",spot=allowed");
  for (Cluster* cluster : {&asked, &allowed}) {
    cluster->submit(small(1));
    cluster->submit(small(2, MarketChoice::on_demand));
    cluster->submit(small(3, MarketChoice::spot));
    cluster->round();
    EXPECT_EQ(market_of(*cluster, 2), Market::on_demand);
    EXPECT_EQ(market_of(*cluster, 3), Market::spot);
  }
  EXPECT_EQ(market_of(asked, 1), Market::on_demand);
  EXPECT_EQ(market_of(allowed, 1), Market::spot);
}

TEST_P(MarketSplitTest, JobsThatTakeAnyMarketRunOnAFleetThatHasSpotInstancesOnly) {
  for (const char* parameters : {"", ",spot=allowed"}) {
    Cluster cluster = cluster_of(parameters);
    cluster.add_to_fleet("it3", 2, Market::spot);
    cluster.submit(small(1));
    cluster.submit(small(2, MarketChoice::on_demand));
    cluster.round();
    EXPECT_EQ(market_of(cluster, 1), Market::spot);
    EXPECT_EQ(market_of(cluster, 2), std::nullopt);
    cluster.add_to_fleet("it3");
    cluster.submit(small(3));
    cluster.round();
    EXPECT_EQ(market_of(cluster, 1), Market::spot) << "it stays where it is";
    EXPECT_EQ(market_of(cluster, 2), Market::on_demand);
  }
}

TEST_P(MarketSplitTest, TheCheaperMarketIsChosenByWhatItCostsNow) {
  Cluster cluster = cluster_of(",spot=allowed");
  for (const char* type : {"it1", "it2", "it3", "it4"}) cluster.reprice(type, 13, Market::spot);
  cluster.submit(small(1));
  cluster.round();
  EXPECT_EQ(market_of(cluster, 1), Market::on_demand);
  cluster.reprice("it4", 0.3, Market::spot);  // $0.4 on demand
  cluster.submit(small(2));
  cluster.round();
  EXPECT_EQ(market_of(cluster, 2), Market::spot);
  EXPECT_EQ(market_of(cluster, 1), Market::on_demand) << "who runs stays on its market";
}

TEST_P(MarketSplitTest, WhatTheCloudHasNoneOfIsRentedOnDemand) {
  Cluster cluster = cluster_of(",spot=allowed");
  for (const char* type : {"it1", "it2", "it3", "it4"}) {
    cluster.change({type, Market::spot, "", Price::from_usd_h(0.1), false, 0});
  }
  cluster.submit(small(1));
  cluster.round();
  EXPECT_EQ(market_of(cluster, 1), Market::on_demand);
}

TEST_P(MarketSplitTest, TheTasksOfAJobAreNotDividedBetweenMarkets) {
  Cluster cluster = cluster_of(",spot=allowed");
  Job job = JobBuilder(1).tasks(2).gang(false).demand(Resources::of(0, 4, 12)).build();
  cluster.submit(job);
  cluster.round();
  ASSERT_EQ(market_of(cluster, 1, 1), Market::spot);
  for (const char* type : {"it1", "it2", "it3", "it4"}) {
    cluster.reprice(type, 20, Market::spot);
  }
  cluster.stop_task(101);
  cluster.round();
  EXPECT_NE(market_of(cluster, 1, 1), Market::on_demand);
}

TEST_P(MarketSplitTest, AnotherOneThatWasGivenItsMemoryDecidesAsItDoes) {
  Cluster cluster = cluster_of(",spot=allowed");
  cluster.submit(small(1));
  cluster.submit(small(2, MarketChoice::on_demand));
  cluster.round();
  const std::string memory = cluster.policy().save_state(cluster.state());
  const PolicySpec spec = parse_policy(GetParam() + ",spot=allowed").value();
  const auto other = find_module(spec.name).value()->make_policy(spec, cluster.catalog());
  ASSERT_TRUE(other.value()->load_state(memory, cluster.view()));
  cluster.submit(small(3));
  Rng rng(1);
  Budget budget;
  const Plan plan = other.value()->decide(cluster.view(), rng, budget);
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].market, Market::spot);
}

INSTANTIATE_TEST_SUITE_P(Policies, MarketSplitTest, ::testing::Values("no-packing", "eva"),
                         [](const auto& policy) {
                           return policy.param == "eva" ? "Eva" : "NoPacking";
                         });

}  // namespace
}  // namespace muster::testing

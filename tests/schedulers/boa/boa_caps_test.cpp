#include <gtest/gtest.h>

#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;

/// Nodes of four GPUs at a dollar an hour.
Catalog nodes() {
  return Catalog({testing::type_of("node", "", Resources::of(4, 48, 192), 1)});
}

/// A job that is planned to be 16 wide.
Job wide(std::uint64_t id, std::uint32_t least = 1) {
  std::vector<double> speedup;
  for (int width = 1; width <= 16; ++width) speedup.push_back(width);
  return JobBuilder(id)
      .demand(Resources::of(1, 4, 16))
      .workload_class("net")
      .elastic(least, 16, ElasticEpochs({{100, 100.0 / 3600, speedup, {}}}))
      .build();
}

constexpr const char* kAmple = "boa,budget=100,rates_h=net:1";

std::uint32_t width_of(const Cluster& cluster, std::uint64_t id) {
  return cluster.state().find(JobId{id})->width;
}

TEST(BoaUnderCaps, RunsAJobOnWhatACapOnInstancesLeaves) {
  Cluster cluster(nodes(), kAmple);
  cluster.cap(3);
  cluster.submit(wide(1));
  EXPECT_EQ(cluster.round().launches.size(), 3U);
  EXPECT_EQ(width_of(cluster, 1), 12U) << "instead of waiting for four nodes for ever";
  EXPECT_TRUE(cluster.round().resizes.empty()) << "and stays so";
}

TEST(BoaUnderCaps, RunsAJobOnWhatACapOnSpendingLeaves) {
  Cluster cluster(nodes(), kAmple);
  cluster.cap({}, 2.5);
  cluster.submit(wide(1));
  EXPECT_EQ(cluster.round().launches.size(), 2U);
  EXPECT_EQ(width_of(cluster, 1), 8U);
}

TEST(BoaUnderCaps, HaveTheOthersWaitAndSayWhichCapItIs) {
  Cluster cluster(nodes(), kAmple);
  cluster.cap(5);
  cluster.submit(wide(1));
  cluster.submit(wide(2));
  cluster.submit(wide(3));
  const Plan plan = cluster.round();
  EXPECT_EQ(width_of(cluster, 1), 16U);
  EXPECT_EQ(width_of(cluster, 2), 4U);
  ASSERT_FALSE(plan.refusals.empty());
  EXPECT_EQ(plan.refusals.front().refusal.code, RefusalCode::instance_cap);
  EXPECT_EQ(plan.refusals.front().refusal.asked, 4);
  EXPECT_EQ(plan.refusals.front().refusal.available, 0);
}

TEST(BoaUnderCaps, GrowsAJobThatRunsWhenThatDoublesIt) {
  Cluster cluster(nodes(), kAmple);
  cluster.cap(4);
  cluster.submit(wide(1));
  cluster.round();
  cluster.round();
  ASSERT_EQ(width_of(cluster, 1), 16U);
  cluster.cap(5);
  cluster.submit(wide(2));
  cluster.round();
  cluster.round();
  ASSERT_EQ(width_of(cluster, 2), 4U);
  cluster.cap(6);
  EXPECT_EQ(cluster.round().launches.size(), 1U);
  EXPECT_EQ(width_of(cluster, 2), 4U) << "it goes on until the node is ready";
  cluster.round();
  EXPECT_EQ(width_of(cluster, 2), 8U);
  cluster.round();
  cluster.cap(7);
  EXPECT_TRUE(cluster.round().launches.empty()) << "a start for half as much again";
  EXPECT_EQ(width_of(cluster, 2), 8U);
}

TEST(Boa, SaysOfAJobThatNoTypeHoldsThatItNeverRuns) {
  Cluster cluster(nodes(), kAmple);
  cluster.submit(JobBuilder(1).demand(Resources::of(1, 4, 5000)).elastic(1, 4).build());
  const Plan plan = cluster.round();
  ASSERT_FALSE(plan.refusals.empty());
  EXPECT_EQ(plan.refusals.front().refusal.kind, RefusalKind::never);
  EXPECT_EQ(plan.refusals.front().refusal.code, RefusalCode::fits_no_type);
}

TEST(BoaUnderCaps, LeaveWhatHasToBeWholeToTheMasterWhichCountsItsTurn) {
  const auto launches_for = [](const Job& job) {
    Cluster cluster(nodes(), kAmple);
    cluster.cap(2);
    cluster.submit(job);
    const Plan plan = cluster.ask();
    EXPECT_TRUE(plan.refusals.empty());
    return plan.launches.size();
  };
  EXPECT_EQ(launches_for(wide(1, 12)), 4U);
  EXPECT_EQ(launches_for(JobBuilder(1).demand(Resources::of(4, 4, 16)).tasks(3).gang(true).build()),
            3U);
}

TEST(BoaUnderCaps, TakeASmallerTypeWhereCapsLeaveNoLargerOne) {
  Cluster cluster(Catalog({testing::type_of("large", "", Resources::of(4, 48, 192), 2),
                           testing::type_of("small", "", Resources::of(1, 12, 48), 0.6)}),
                  kAmple);
  cluster.cap({}, 1.5);
  cluster.submit(wide(1));
  EXPECT_EQ(cluster.round().launches.size(), 2U);
  EXPECT_EQ(cluster.layout(), "small(1) small(101)");
}

}  // namespace
}  // namespace muster

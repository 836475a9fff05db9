#include <gtest/gtest.h>

#include "schedulers/pollux/pollux_policy.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;
using testing::figure;

Catalog nodes() {
  return Catalog({testing::type_of("node", "", Resources::of(4, 48, 192), 1)});
}

/// Eight workers of a GPU each are 7.02 times as fast as one; more there are not.
Job training(std::uint64_t id) {
  std::vector<double> speedup;
  for (std::uint32_t r = 1; r <= 8; ++r) speedup.push_back(r / (1 + 0.02 * (r - 1)));
  return JobBuilder(id)
      .demand(Resources::of(1, 4, 16))
      .workload_class("net")
      .elastic(1, 8, ElasticEpochs({{1000, 1, speedup, {}}}))
      .build();
}

constexpr const char* kHalf = "pollux-autoscale,target=0.5,window=1,speedups=oracle";

double nodes_of(const Cluster& cluster) {
  return cluster.state().sums().open_capacity.value()[Resource::gpu] / 4;
}

TEST(PolluxAutoscale, RentsAsManyNodesAsBringItsEfficiencyNearTheTarget) {
  Cluster cluster(nodes(), kHalf);
  cluster.submit(training(1));
  cluster.round();
  // 7.02 of 16 are nearer to a half than 7.02 of 12.
  EXPECT_EQ(nodes_of(cluster), 4);
  cluster.round();
  const Plan plan = cluster.round();
  EXPECT_NEAR(figure(plan, "efficiency"), 8 / 1.14 / 16, 1e-9);
  EXPECT_TRUE(plan.launches.empty() && plan.releases.empty());
}

TEST(PolluxAutoscale, GrowsWithItsJobsAndShrinksWithThem) {
  Cluster cluster(nodes(), kHalf);
  cluster.submit(training(1));
  for (int round = 0; round < 3; ++round) cluster.round();
  for (std::uint64_t id = 2; id <= 4; ++id) cluster.submit(training(id));
  for (int round = 0; round < 4; ++round) cluster.round();
  // 28.07 of 56 are nearest.
  EXPECT_EQ(nodes_of(cluster), 14);
  for (std::uint64_t id = 2; id <= 4; ++id) cluster.finish(id);
  for (int round = 0; round < 3; ++round) cluster.round();
  EXPECT_EQ(nodes_of(cluster), 4);
  EXPECT_EQ(cluster.state().find(JobId{1})->running, 8U);
  cluster.finish(1);
  cluster.round();
  EXPECT_EQ(nodes_of(cluster), 0);
}

TEST(PolluxAutoscale, WaitsUntilTheMeanOfItsWindowLeavesTheBand) {
  Cluster cluster(nodes(), "pollux-autoscale,target=0.5,window=4,speedups=oracle");
  cluster.submit(training(1));
  for (int round = 0; round < 12; ++round) cluster.round();
  EXPECT_EQ(nodes_of(cluster), 4);
  for (std::uint64_t id = 2; id <= 4; ++id) cluster.submit(training(id));
  // Efficiencies of 0.44 thrice and once more before the new jobs run, then of 0.94.
  cluster.round();
  cluster.round();
  EXPECT_EQ(nodes_of(cluster), 4) << "of two rounds with 0.44 and two with 0.94 the mean is 0.6";
  cluster.round();
  cluster.round();
  EXPECT_GT(nodes_of(cluster), 4);
}

TEST(PolluxAutoscale, StaysWithinItsBoundsAndRefusesThoseThatContradictEachOther) {
  Cluster cluster(nodes(), std::string(kHalf) + ",min_nodes=2,max_nodes=3");
  for (std::uint64_t id = 1; id <= 4; ++id) cluster.submit(training(id));
  for (int round = 0; round < 3; ++round) cluster.round();
  EXPECT_EQ(nodes_of(cluster), 3);
  const Catalog catalog = nodes();
  const PolicySpec wrong = parse_policy("pollux-autoscale,min_nodes=5,max_nodes=4").value();
  EXPECT_EQ(make_policy(wrong, catalog).error().code, PolicyError::contradiction);
}

TEST(PolluxAutoscale, GoesOnAfterARestartWhereItWas) {
  Cluster cluster(nodes(), std::string(kHalf) + ",search=genetic,population=10,generations=4");
  cluster.submit(training(1));
  for (int round = 0; round < 3; ++round) cluster.round();
  const auto other = make_policy(
      parse_policy(std::string(kHalf) + ",search=genetic,population=10,generations=4").value(),
      cluster.catalog());
  const std::string words = cluster.policy().save_state(cluster.state());
  ASSERT_TRUE(other.value()->load_state(words, cluster.view()));
  EXPECT_EQ(other.value()->save_state(cluster.state()), words);
  Rng rng(9);
  Budget budget;
  const Plan plan = cluster.policy().decide(cluster.view(), rng, budget);
  const Event decided{cluster.view().now, RoundDecided{7, plan.note}};
  cluster.policy().observe(decided, cluster.view());
  other.value()->observe(decided, cluster.view());
  EXPECT_EQ(other.value()->save_state(cluster.state()),
            cluster.policy().save_state(cluster.state()));
}

}  // namespace
}  // namespace muster

#include "schedulers/packing/throughput_intake.hpp"

#include <gtest/gtest.h>

#include "schedulers/eva/eva_policy.hpp"
#include "schedulers/market_split.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster::eva {
namespace {

using muster::testing::Cluster;
using test::JobBuilder;

const EvaPolicy& eva_of(const Policy& policy) {
  return dynamic_cast<const EvaPolicy&>(dynamic_cast<const MarketSplit&>(policy).on_demand());
}

/// A cluster under Eva that packs pairs of these jobs onto it3.
struct Pair {
  Cluster cluster{muster::testing::table_3(), "eva,rp"};

  Job half(std::uint64_t id, const std::string& cls) {
    return JobBuilder(id).demand(Resources::of(0, 4, 12)).workload_class(cls).build();
  }
  std::vector<ColocationEntry> entries() { return eva_of(cluster.policy()).table().entries(); }
};

constexpr ClassId a{0}, b{1};

TEST(ThroughputIntake, records_each_task_of_an_instance_beside_the_others) {
  Pair pair;
  pair.cluster.submit(pair.half(1, "a"));
  pair.cluster.submit(pair.half(2, "b"));
  pair.cluster.round();
  ASSERT_EQ(pair.cluster.layout(), "it3(1 2)");
  EXPECT_TRUE(pair.entries().empty()) << "nothing ran yet";
  pair.cluster.ask({{1, 0.8}, {2, 1.5}});
  EXPECT_EQ(pair.entries(), (std::vector<ColocationEntry>{{a, {b}, 0.8, 1}, {b, {a}, 1.0, 1}}))
      << "what is over 1 counts as 1";
}

TEST(ThroughputIntake, leaves_out_an_instance_while_a_task_is_on_its_way_to_it) {
  Pair pair;
  pair.cluster.submit(pair.half(1, "a"));
  pair.cluster.submit(pair.half(2, "b"));
  pair.cluster.begin(pair.cluster.ask());
  pair.cluster.ask();
  EXPECT_TRUE(pair.entries().empty());
}

TEST(ThroughputIntake, leaves_out_an_instance_while_a_task_is_still_leaving_it) {
  Cluster cluster(muster::testing::table_3(), "eva");
  cluster.submit(muster::testing::job_of_table_3(1));
  cluster.submit(muster::testing::job_of_table_3(2));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 2)");
  cluster.begin(cluster.ask({{1, 0.7}, {2, 0.8}}));
  ASSERT_EQ(cluster.layout(), "it1(1) it2(2)");
  const auto before = eva_of(cluster.policy()).table().entries();
  cluster.ask({{1, 0.7}});
  EXPECT_EQ(eva_of(cluster.policy()).table().entries(), before)
      << "task 1 is neither alone nor beside a running task";
}

TEST(ThroughputIntake, records_a_task_alone) {
  Pair pair;
  pair.cluster.submit(pair.half(1, "a"));
  pair.cluster.round();
  pair.cluster.ask({{1, 0.9}});
  EXPECT_EQ(pair.entries(), (std::vector<ColocationEntry>{{a, {}, 0.9, 1}}));
}

TEST(ThroughputIntake, attributes_one_value_a_job_of_many_tasks_to_one_entry) {
  Pair pair;
  pair.cluster.submit(pair.half(1, "a"));
  pair.cluster.submit(
      JobBuilder(2).tasks(2).demand(Resources::of(0, 4, 12)).workload_class("b").build());
  pair.cluster.round();
  ASSERT_EQ(pair.cluster.layout(), "it3(1 2) it4(201)");
  pair.cluster.ask({{1, 1.0}, {2, 0.7}, {201, 0.7}});
  EXPECT_EQ(pair.entries(), (std::vector<ColocationEntry>{{a, {b}, 1.0, 1}, {b, {a}, 0.7, 1}}));
}

}  // namespace
}  // namespace muster::eva

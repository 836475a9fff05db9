#include <gtest/gtest.h>

#include "tests/schedulers/cluster.hpp"

// Who goes first of what waits, under every policy.

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;
using testing::job_of_table_3;
using testing::table_3;

Job small(std::uint64_t id, int priority = 0) {
  Job job = JobBuilder(id).demand(Resources::of(0, 4, 12)).workload_class("s").build();
  job.priority = priority;
  return job;
}

TEST(Priority, is_the_order_in_which_no_packing_asks) {
  Cluster cluster(table_3(), "no-packing");
  for (std::uint64_t id : {1, 2, 3}) cluster.submit(small(id, id == 2 ? 1 : 0));
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.places.size(), 3u);
  EXPECT_EQ(plan.places[0].task, TaskId{2});
  EXPECT_EQ(std::get<LaunchIndex>(plan.places[0].to), LaunchIndex{0});
  EXPECT_EQ(plan.places[1].task, TaskId{1});
  EXPECT_EQ(plan.places[2].task, TaskId{3});
}

TEST(Priority, is_the_order_in_which_policies_that_decide_in_batches_ask) {
  for (const char* policy : {"stratus", "hotspot", "spot-fleet", "supercloud"}) {
    Cluster cluster(table_3(), policy);
    for (std::uint64_t id : {1, 2, 3}) {
      Job job = small(id, id == 2 ? 1 : 0);
      if (id == 3) job.markets = MarketChoice::on_demand;
      cluster.submit(job);
    }
    const Plan plan = cluster.ask();
    ASSERT_EQ(plan.places.size(), 3u) << policy;
    EXPECT_EQ(plan.places[0].task, TaskId{2}) << policy;
    EXPECT_EQ(std::get<LaunchIndex>(plan.places[0].to), LaunchIndex{0}) << policy;
  }
}

TEST(Priority, comes_before_age_on_a_fixed_fleet) {
  for (const char* policy :
       {"no-packing", "eva", "eva,artifact", "hcoop", "stratus", "hotspot", "spot-fleet",
        "supercloud", "synergy", "owl", "stratus,artifact", "lrasched"}) {
    Cluster cluster(table_3(), policy);
    cluster.add_to_fleet("it4");
    cluster.submit(small(1));
    cluster.submit(small(2, 7));
    cluster.submit(small(3, -1));
    cluster.round();
    EXPECT_EQ(cluster.layout(), "it4(2)") << policy;
    cluster.finish(2);
    cluster.round();
    EXPECT_EQ(cluster.layout(), "it4(1)") << policy;
  }
}

TEST(Priority, of_a_gang_counts_as_that_of_any_job) {
  for (const char* policy : {"eva", "hcoop"}) {
    Cluster cluster(table_3(), policy);
    cluster.add_to_fleet("it4", 2);
    cluster.submit(small(1));
    Job gang = JobBuilder(2).tasks(2).demand(Resources::of(0, 4, 12)).build();
    gang.priority = 1;
    cluster.submit(gang);
    cluster.round();
    EXPECT_EQ(cluster.layout(), "it4(2) it4(201)") << policy;
  }
}

TEST(Priority, lists_evas_launches_for_the_caps) {
  Cluster cluster(table_3(), "eva");
  cluster.submit(job_of_table_3(1));
  cluster.submit(small(4, 3));
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(cluster.catalog()[plan.launches[0].type].name, "it4");
  EXPECT_EQ(plan.places[0].task, TaskId{4});
  EXPECT_EQ(std::get<LaunchIndex>(plan.places[0].to), LaunchIndex{0});
}

TEST(Priority, decides_who_gets_room_that_is_paid_for) {
  for (const bool first : {false, true}) {
    Cluster cluster(table_3(), "eva,rp,partial-only");
    cluster.submit(job_of_table_3(1));
    cluster.round();
    cluster.submit(job_of_table_3(2));  // $3 beside the $12 task
    Job cheap = job_of_table_3(3);      // $0.8, and no room for both
    cheap.priority = first ? 1 : 0;
    cluster.submit(cheap);
    cluster.round();
    EXPECT_EQ(cluster.layout(), first ? "it1(1 3) it2(2)" : "it1(1 2) it3(3)");
  }
}

TEST(Priority, beyond_what_requests_may_have_is_cut_under_hcoop) {
  Cluster cluster(table_3(), "hcoop");
  cluster.add_to_fleet("it4");
  cluster.submit(small(1, -2'000'000'000));
  cluster.submit(small(2, 2'000'000'000));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it4(2)");
}

}  // namespace
}  // namespace muster

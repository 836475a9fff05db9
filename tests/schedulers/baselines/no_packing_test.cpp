#include "schedulers/baselines/no_packing.hpp"

#include <gtest/gtest.h>

#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using testing::Cluster;
using testing::job_of_table_3;

TEST(NoPacking, gives_each_task_the_cheapest_instance_that_holds_it) {
  Cluster cluster(testing::table_3(), "no-packing");
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(1) it2(2) it3(3) it4(4)");
  EXPECT_EQ(plan.places[0].cause.code, CauseCode::alone);
}

TEST(NoPacking, gives_an_instance_back_when_its_task_is_done_and_never_uses_it_again) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.submit(job_of_table_3(4));
  cluster.round();
  cluster.finish(4);
  cluster.submit(job_of_table_3(2));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.releases.size(), 1u);
  EXPECT_EQ(plan.releases[0].cause.code, CauseCode::empty);
  EXPECT_DOUBLE_EQ(plan.releases[0].cause.gain_usd_h, -0.4);
  EXPECT_EQ(cluster.layout(), "it2(2)");
}

TEST(NoPacking, gives_the_instance_of_an_arrays_task_back_before_the_others_are_done) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.submit(test::JobBuilder(1).tasks(3).demand(Resources::of(0, 4, 12)).gang(false).build());
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it4(1) it4(101) it4(102)");
  cluster.finish_task(101);
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.releases.size(), 1u);
  EXPECT_EQ(cluster.layout(), "it4(1) it4(102)");
  EXPECT_TRUE(cluster.round().releases.empty());
}

TEST(NoPacking, gives_the_oldest_tasks_the_empty_instances_of_a_fixed_fleet) {
  Cluster cluster(testing::table_3(), "no-packing");
  for (const char* type : {"it1", "it4", "it3"}) cluster.add_to_fleet(type);
  for (std::uint64_t i = 0; i < 4; ++i) {
    cluster.submit(test::JobBuilder(11 + i).demand(Resources::of(0, 2, 4)).build());
  }
  Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(13) it4(11) it3(12)");
  EXPECT_TRUE(plan.launches.empty() && plan.releases.empty());
  cluster.finish(12);
  plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(13) it4(11) it3(14)");
  EXPECT_TRUE(plan.launches.empty() && plan.releases.empty());
}

TEST(NoPacking, asks_for_nothing_when_nothing_has_happened) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.submit(job_of_table_3(4));
  cluster.round();
  const Plan plan = cluster.ask();
  EXPECT_TRUE(plan.launches.empty() && plan.places.empty() && plan.releases.empty());
}

TEST(NoPacking, places_a_task_again_that_lost_its_place) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.submit(job_of_table_3(4));
  cluster.begin(cluster.ask());
  ASSERT_EQ(cluster.layout(), "it4(4)");
  cluster.refuse_launches();
  ASSERT_EQ(cluster.layout(), "");
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it4(4)");
}

TEST(NoPacking, refuses_what_fits_nowhere_once_and_goes_on) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.submit(test::JobBuilder(9).demand(Resources::of(5, 1, 1)).build());
  cluster.submit(job_of_table_3(4));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.refusals.size(), 1u);
  EXPECT_EQ(plan.refusals[0].task, TaskId{9});
  EXPECT_EQ(plan.refusals[0].refusal.binding, Resource::gpu);
  EXPECT_EQ(plan.refusals[0].refusal.available, 4);
  EXPECT_EQ(cluster.layout(), "it4(4)");
  EXPECT_TRUE(cluster.ask().refusals.empty()) << "the task already carries that reason";
}

TEST(NoPacking, rents_what_is_cheapest_at_the_present_prices) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.reprice("it4", 20);
  cluster.submit(job_of_table_3(4));
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(cluster.catalog()[plan.launches[0].type].name, "it3");
  cluster.reprice("it4", 0.4);
  EXPECT_EQ(cluster.catalog()[cluster.ask().launches[0].type].name, "it4");
}

TEST(NoPacking, does_not_choose_what_the_cloud_says_it_does_not_have) {
  Catalog catalog = testing::table_3();
  Cluster cluster(catalog, "no-packing");
  cluster.submit(job_of_table_3(4));
  cluster.reprice("it3", 0.41);
  cluster.reprice("it4", 0.42);
  ASSERT_EQ(cluster.catalog()[cluster.ask().launches[0].type].name, "it3");
  cluster.change({"it3", Market::on_demand, "", Price::from_usd_h(0.41), false, 0});
  EXPECT_TRUE(cluster.view().rests(test::type_named(cluster.catalog(), "it3"), Market::on_demand));
}

TEST(NoPacking, gives_jobs_that_want_spot_instances_those_at_their_prices) {
  std::vector<InstanceType> types = testing::table_3().types();
  for (InstanceType& type : types) type.spot = type.on_demand;
  Cluster cluster(Catalog(types), "no-packing");
  Job job = job_of_table_3(4);
  job.markets = MarketChoice::spot;
  cluster.submit(job);
  cluster.reprice("it4", 20, Market::spot);
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].market, Market::spot);
  EXPECT_EQ(cluster.catalog()[plan.launches[0].type].name, "it3");
}

TEST(NoPacking, tells_a_gang_of_more_tasks_than_instances_how_many_there_are) {
  for (const char* policy : {"no-packing", "hotspot"}) {
    SCOPED_TRACE(policy);
    Cluster cluster(testing::table_3(), policy);
    cluster.add_to_fleet("it4", 2);
    cluster.submit(test::JobBuilder(1).tasks(3).demand(Resources::of(0, 1, 1)).gang(true).build());
    cluster.submit(test::JobBuilder(2).demand(Resources::of(0, 1, 1)).build());
    const Plan plan = cluster.round();
    ASSERT_EQ(plan.refusals.size(), 3U);
    const Refusal wider{RefusalKind::not_now, RefusalCode::fixed_fleet, {}, 3, 2};
    EXPECT_EQ(plan.refusals[0].refusal, wider);
    EXPECT_EQ(cluster.layout(), "it4(2) it4()") << "others get what it cannot use";
    EXPECT_TRUE(cluster.ask().refusals.empty()) << "it is no news";
  }
}

}  // namespace
}  // namespace muster

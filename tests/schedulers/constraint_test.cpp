// Jobs with a constraint under every policy of masters, none of which has a line for it.

#include <gtest/gtest.h>

#include <string>

#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/stratus/m4.hpp"

namespace muster {
namespace {

using testing::Cluster;
using testing::job_of;
using testing::m4;

/// The types twice: the cheaper ones in zone a, which is what no constraint would take.
Catalog in_two_zones() {
  const Catalog one_zone = m4();
  std::vector<InstanceType> types;
  for (const char* zone : {"a", "b"}) {
    for (InstanceType type : one_zone.types()) {
      if (*zone == 'b') type.on_demand = Price::from_usd_h(2 * type.on_demand.usd_h());
      if (*zone == 'b') type.spot.reset();
      type.name += std::string("-") + zone;
      type.labels = {{"zone", zone}};
      types.push_back(std::move(type));
    }
  }
  return Catalog(std::move(types));
}

Job in_zone_b(Job job) {
  job.constraint = "zone=b";
  return job;
}

/// How many of the job's tasks have a place; each of these has to be in the zone.
std::size_t placed_in(const Cluster& cluster, std::uint64_t job, const std::string& zone) {
  std::size_t count = 0;
  for (Slot slot : cluster.state().find(JobId{job})->tasks) {
    const TaskRow& task = cluster.state().task(slot);
    if (task.target == kNoSlot) continue;
    const TypeId type = cluster.state().instance(task.target).type;
    EXPECT_EQ(*cluster.catalog()[type].label("zone"), zone) << cluster.layout();
    ++count;
  }
  return count;
}

TEST(ConstrainedJobs, are_where_they_may_be_under_every_policy_where_instances_are_rented) {
  for (const PolicyModule& module : known_policies()) {
    SCOPED_TRACE(module.name);
    Cluster cluster(in_two_zones(), module, module.name);
    cluster.submit(job_of(1, 3600, 1, 2, 3));
    cluster.submit(in_zone_b(job_of(2, 3600, 1, 2, 5)));
    Job gang = in_zone_b(job_of(3, 3600, 1, 2, 3));
    gang.gang = true;
    cluster.submit(gang);
    for (int i = 0; i < 3; ++i) cluster.round();
    EXPECT_EQ(placed_in(cluster, 2, "b"), 5U);
    EXPECT_EQ(placed_in(cluster, 3, "b"), 3U);
    for (Slot slot : cluster.state().find(JobId{1})->tasks) {
      EXPECT_NE(cluster.state().task(slot).target, kNoSlot);
    }
  }
}

TEST(ConstrainedJobs, are_where_they_may_be_under_every_policy_where_instances_are_given) {
  for (const PolicyModule& module : known_policies()) {
    SCOPED_TRACE(module.name);
    Cluster cluster(in_two_zones(), module, module.name);
    cluster.add_to_fleet("4xlarge-a", 3);
    cluster.add_to_fleet("4xlarge-b", 3);
    cluster.submit(in_zone_b(job_of(1, 3600, 1, 2, 3)));
    for (int i = 0; i < 2; ++i) cluster.round();
    EXPECT_EQ(placed_in(cluster, 1, "b"), 3U) << cluster.layout();
  }
}

TEST(ConstrainedJobs, that_are_elastic_have_their_workers_where_they_may_be) {
  for (const PolicyModule& module : known_policies()) {
    SCOPED_TRACE(module.name);
    Cluster cluster(in_two_zones(), module, module.name);
    cluster.submit(
        in_zone_b(test::JobBuilder(1).demand(Resources::of(0, 1, 2)).elastic(1, 4).build()));
    for (int i = 0; i < 3; ++i) cluster.round();
    EXPECT_GE(placed_in(cluster, 1, "b"), 1U) << cluster.layout();
  }
}

TEST(ConstrainedJobs, of_which_no_type_meets_the_constraint_are_refused_for_good) {
  for (const PolicyModule& module : known_policies()) {
    SCOPED_TRACE(module.name);
    Cluster cluster(in_two_zones(), module, module.name);
    Job job = job_of(1, 3600, 1, 2, 1);
    job.constraint = "zone=c";
    cluster.submit(job);
    const Plan plan = cluster.round();
    EXPECT_TRUE(plan.launches.empty());
    ASSERT_EQ(plan.refusals.size(), 1U);
    EXPECT_EQ(plan.refusals.front().refusal.kind, RefusalKind::never);
    EXPECT_EQ(plan.refusals.front().refusal.code, RefusalCode::constraint);
  }
}

TEST(ConstrainedJobs, share_instances_with_others_in_the_place_that_both_may_have) {
  Cluster cluster(in_two_zones(), "eva,period_s=300");
  cluster.submit(in_zone_b(job_of(1, 3600, 1, 2, 1)));
  cluster.submit(job_of(2, 3600, 1, 2, 1));
  cluster.round();
  EXPECT_EQ(placed_in(cluster, 1, "b"), 1U);
  EXPECT_EQ(placed_in(cluster, 2, "b"), 1U) << "cheaper than an instance of its own";
}

}  // namespace
}  // namespace muster

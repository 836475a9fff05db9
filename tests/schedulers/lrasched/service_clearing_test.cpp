#include "schedulers/lrasched/service_clearing.hpp"

#include <gmock/gmock.h>

#include <string>

#include "tests/schedulers/cluster.hpp"

namespace muster::lrasched {
namespace {

using ::muster::testing::Cluster;
using ::muster::testing::table_3;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A service of one replica, with a task to spare.
Job service(std::uint64_t number, double cpus, std::size_t spare = 1) {
  Job job = ::muster::test::JobBuilder(number)
                .tasks(1 + spare)
                .demand(Resources::of(0, cpus, 2 * cpus))
                .gang(false)
                .build();
  ServiceSpec spec;
  spec.replicas = 1;
  job.kind = spec;
  return job;
}
Job batch(std::uint64_t number, double cpus) {
  return ::muster::test::JobBuilder(number).demand(Resources::of(0, cpus, 2 * cpus)).build();
}

/// A round in which all replicas say that they are ready.
Plan serve(Cluster& cluster) {
  const Plan plan = cluster.round();
  for (const JobRow& job : cluster.state().jobs()) {
    if (job.job.service() == nullptr) continue;
    for (const Slot slot : job.tasks) {
      const TaskRow& task = cluster.state().task(slot);
      if (task.phase == TaskPhase::running && !is_endpoint(task)) cluster.get_ready(task.id);
    }
  }
  return plan;
}

/// Services 1 and 3, each on half of an instance whose other half has come free.
Cluster half_used(const std::string& policy) {
  Cluster cluster(table_3(), policy);
  cluster.submit(service(1, 2));
  cluster.submit(service(2, 2, 0));
  serve(cluster);
  cluster.submit(service(3, 2));
  cluster.submit(service(4, 2, 0));
  serve(cluster);
  EXPECT_EQ(cluster.layout(), "it4(1 2) it4(3 4)");
  cluster.finish(2);
  cluster.finish(4);
  return cluster;
}

TEST(ServiceClearing, gives_an_instance_back_whose_replica_has_room_on_another) {
  Cluster cluster = half_used("lrasched");
  for (int i = 0; i < 6; ++i) serve(cluster);
  EXPECT_THAT(cluster.state().instances(), SizeIs(1)) << cluster.layout();
  Cluster kept = half_used("lrasched,clears=false");
  for (int i = 0; i < 6; ++i) serve(kept);
  EXPECT_THAT(kept.state().instances(), SizeIs(2));
}

TEST(ServiceClearing, takes_a_cheaper_instance_for_what_is_left) {
  Cluster cluster(table_3(), "lrasched");
  cluster.submit(service(1, 2));
  cluster.submit(service(2, 6, 0));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it3(1 2)");
  cluster.finish(2);
  for (int i = 0; i < 6; ++i) serve(cluster);
  EXPECT_EQ(cluster.layout(), "it4(1)");
  EXPECT_THAT(serve(cluster).places, IsEmpty()) << "nothing is left to save";
}

TEST(ServiceClearing, leaves_replicas_that_have_just_come_where_they_are) {
  Cluster cluster = half_used("lrasched");
  EXPECT_THAT(poor_instances(cluster.view()), IsEmpty());
  cluster.let_pass(std::chrono::minutes{5});
  const auto poor = poor_instances(cluster.view());
  ASSERT_THAT(poor, SizeIs(1));
  EXPECT_EQ(poor.front().replicas, std::vector<Slot>{cluster.state().find(TaskId{1})->slot});
}

TEST(ServiceClearing, leaves_instances_on_which_others_run) {
  Cluster cluster(table_3(), "lrasched");
  cluster.submit(service(1, 1));
  cluster.round();
  cluster.submit(batch(9, 1));
  serve(cluster);
  ASSERT_EQ(cluster.layout(), "it4(1 9)");
  cluster.let_pass(std::chrono::hours{1});
  EXPECT_THAT(poor_instances(cluster.view()), IsEmpty());
}

TEST(ServiceClearing, leaves_services_that_are_not_movable) {
  Cluster cluster(table_3(), "lrasched");
  Job pinned = service(1, 2);
  pinned.movable = false;
  cluster.submit(pinned);
  cluster.submit(service(2, 6, 0));
  cluster.round();
  cluster.finish(2);
  for (int i = 0; i < 6; ++i) serve(cluster);
  EXPECT_EQ(cluster.layout(), "it3(1)");
}

TEST(ServiceClearing, leaves_an_instance_of_which_one_replica_could_not_go) {
  Cluster cluster(table_3(), "lrasched");
  cluster.submit(service(1, 2));
  cluster.submit(service(2, 2, 0));
  cluster.submit(service(3, 4, 0));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it3(1 2 3)");
  cluster.finish(3);
  for (int i = 0; i < 6; ++i) serve(cluster);
  EXPECT_EQ(cluster.layout(), "it3(1 2)") << "with half of them there it would be paid for twice";
}

}  // namespace
}  // namespace muster::lrasched

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;

// Rounds are five minutes apart.
constexpr const char* kPolicy = "boa,budget=100,rates_h=net:10+endless:1";

/// Nodes of four GPUs at a dollar an hour.
Catalog nodes() {
  return Catalog({testing::type_of("node", "", Resources::of(4, 48, 192), 1)});
}

/// An hour of one GPU, for which more workers are of no use; it has `width` of them all the same.
Job training(std::uint64_t id, std::uint32_t width = 1, double start_s = 10) {
  Delays delays;
  delays.init = from_seconds(start_s);
  return JobBuilder(id)
      .demand(Resources::of(1, 4, 16))
      .workload_class("net")
      .delays(delays)
      .elastic(width, width, ElasticEpochs({{3600, 1, {1, 1, 1, 1}, {}}}))
      .build();
}

/// Of another class, whose jobs do not say how long they are.
Job without_epochs(std::uint64_t id) {
  Job job = training(id);
  job.workload_class = "endless";
  std::get<ElasticSpec>(job.kind).epochs = {};
  std::get<ElasticSpec>(job.kind).speedup = {1};
  return job;
}

void run(Cluster& cluster, std::initializer_list<Job> jobs) {
  for (const Job& job : jobs) cluster.submit(job);
  for (int i = 0; i < 2; ++i) cluster.round();
}

/// Three jobs that are left on a node each when the nine beside them have ended.
void leave_one_on_each_of_three_nodes(Cluster& cluster, double start_s = 10) {
  for (std::uint64_t id = 1; id <= 12; ++id) cluster.submit(training(id, 1, start_s));
  for (int i = 0; i < 2; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1 2 3 4) node(5 6 7 8) node(9 10 11 12)");
  for (const std::uint64_t id : {2, 3, 4, 6, 7, 8, 10, 11, 12}) cluster.finish(id);
}

constexpr const char* kLeft = "node(1) node(5) node(9)";

TEST(BoaEmptying, MovesJobsThatAreLeftBehindOntoFewerNodes) {
  Cluster cluster(nodes(), kPolicy);
  leave_one_on_each_of_three_nodes(cluster);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1 5) node(9)") << "one node a round";
  for (int i = 0; i < 4; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1 5 9)");
}

TEST(BoaEmptying, IsOneWithGivingTheNodeBackAndSaysWhatThatSaves) {
  Cluster cluster(nodes(), kPolicy);
  leave_one_on_each_of_three_nodes(cluster);
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.releases.size(), 1U);
  ASSERT_EQ(plan.places.size(), 1U);
  EXPECT_NE(plan.releases[0].group, 0U);
  EXPECT_EQ(plan.places[0].group, plan.releases[0].group);
  EXPECT_EQ(plan.places[0].cause, (Cause{CauseCode::partial_reconfiguration, 1}));
  EXPECT_EQ(plan.releases[0].cause, plan.places[0].cause);
}

TEST(BoaEmptying, LeavesJobsThatHaveHardlyRunSinceTheirLastStart) {
  Cluster cluster(nodes(), kPolicy);
  leave_one_on_each_of_three_nodes(cluster, 90);
  cluster.round();
  EXPECT_EQ(cluster.layout(), kLeft) << "900 s are ten times a start";
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1 5 9)");
}

TEST(BoaEmptying, LeavesJobsThatEndBeforeItPays) {
  Cluster cluster(nodes(), kPolicy);
  leave_one_on_each_of_three_nodes(cluster);
  // 20 s of a node of four are 80 s of a GPU, and ten starts 100.
  for (const std::uint64_t id : {1, 5, 9}) cluster.progress(id, 3580);
  cluster.round();
  EXPECT_EQ(cluster.layout(), kLeft);
  for (const std::uint64_t id : {1, 5, 9}) cluster.progress(id, 3570);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1 5) node(9)") << "30 s are 120 s";
}

TEST(BoaEmptying, LeavesJobsWithoutEpochsOfWhichNothingIsKnown) {
  Cluster cluster(nodes(), kPolicy);
  for (std::uint64_t id = 1; id <= 8; ++id) cluster.submit(without_epochs(id));
  for (int i = 0; i < 2; ++i) cluster.round();
  for (const std::uint64_t id : {2, 3, 4, 6, 7, 8}) cluster.finish(id);
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1) node(5)");
}

TEST(BoaEmptying, LeavesJobsWhereItIsToldTo) {
  Cluster cluster(nodes(), std::string(kPolicy) + ",empties_nodes=false");
  leave_one_on_each_of_three_nodes(cluster);
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), kLeft);
}

TEST(BoaEmptying, ChangesNothingWhereJobsHaveNoRoomTogether) {
  // Two nodes, whose own jobs stay, have room for one worker each; the job on the third has two.
  Cluster cluster(nodes(), kPolicy);
  for (std::uint64_t id = 1; id <= 8; ++id) cluster.submit(without_epochs(id));
  for (int i = 0; i < 2; ++i) cluster.round();
  run(cluster, {training(9, 2)});
  for (const std::uint64_t id : {4, 8}) cluster.finish(id);
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1 2 3) node(5 6 7) node(9 901)");
  run(cluster, {training(10)});
  EXPECT_EQ(cluster.layout(), "node(1 2 3 10) node(5 6 7) node(9 901)")
      << "the room is still there";
}

TEST(BoaEmptying, WaitsForARoundThatDoesNothingElse) {
  Cluster cluster(nodes(), kPolicy);
  run(cluster, {training(1), training(2), training(3), training(4), training(5), training(6),
                training(7), training(8)});
  for (const std::uint64_t id : {2, 3, 4, 8}) cluster.finish(id);
  // Job 1 would have room beside the second node's three, but its own node gets another job.
  run(cluster, {training(9, 2)});
  EXPECT_EQ(cluster.layout(), "node(1 9 901) node(5 6 7)");
}

TEST(BoaEmptying, MovesTheWorkersThatAJobHasOnTheNodeAndLeavesItsOthers) {
  Cluster cluster(nodes(), kPolicy);
  run(cluster, {training(1, 6), training(2), training(3)});
  EXPECT_EQ(cluster.layout(), "node(1 101 102 103) node(2 3 104 105)");
  run(cluster, {training(4, 2)});
  cluster.finish(2);
  cluster.finish(3);
  EXPECT_EQ(cluster.layout(), "node(1 101 102 103) node(104 105) node(4 401)");
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1 101 102 103) node(4 104 105 401)");
}

}  // namespace
}  // namespace muster

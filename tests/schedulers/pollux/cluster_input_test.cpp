// The input of a round of Pollux, and where jobs go that are not the search's.

#include "schedulers/pollux/cluster_input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/pollux/lone_jobs.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster::pollux {
namespace {

using test::JobBuilder;
using ::testing::AllOf;
using testing::Cluster;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A node of four GPUs for a dollar, one of eight for 1.5, and one without GPUs.
Catalog types() {
  return Catalog({testing::type_of("four", "", Resources::of(4, 48, 192), 1),
                  testing::type_of("eight", "", Resources::of(8, 96, 384), 1.5),
                  testing::type_of("plain", "", Resources::of(0, 16, 64), 0.2)});
}

Job elastic(std::uint64_t id, double gpus = 1, std::uint32_t least = 1) {
  return JobBuilder(id).demand(Resources::of(gpus, 4, 16)).elastic(least, 8).build();
}

Job fixed(std::uint64_t id, std::uint32_t tasks = 1, bool gang = false, double gpus = 1) {
  return JobBuilder(id).tasks(tasks).gang(gang).demand(Resources::of(gpus, 4, 16)).build();
}

class ClusterInputTest : public ::testing::Test {
 protected:
  ClusterInput& input() {
    view_.emplace(cluster_.view());
    mask_.learn(cluster_.state());
    input_.emplace(*view_, mask_);
    return *input_;
  }
  /// The plan for jobs that are not the search's.
  Plan lone() {
    input();
    Plan plan;
    LoneJobs(*view_, *input_).place(plan);
    return plan;
  }
  std::string rented(const Plan& plan) const {
    std::string names;
    for (const Launch& launch : plan.launches) names += cluster_.catalog()[launch.type].name + " ";
    return names;
  }

  Cluster cluster_{types(), "pollux,budget=8"};
  PlacementMask mask_;
  std::optional<ClusterView> view_;
  std::optional<ClusterInput> input_;
};

TEST_F(ClusterInputTest, TheClusterIsOfTheTypeOnWhichAWorkerCostsLeast) {
  cluster_.submit(elastic(1));
  const auto& kind = input().kind();
  ASSERT_TRUE(kind);
  EXPECT_EQ(cluster_.catalog()[kind->offer->key.type].name, "eight");
  EXPECT_EQ(kind->node_holds, 8U);
}

TEST_F(ClusterInputTest, AJobWithoutAConstraintChoosesTheTypeForAll) {
  Job bound = elastic(1);
  bound.constraint = "type=four";
  cluster_.submit(bound);
  EXPECT_EQ(cluster_.catalog()[input().kind()->offer->key.type].name, "four");
  cluster_.submit(elastic(2));
  EXPECT_EQ(cluster_.catalog()[input().kind()->offer->key.type].name, "eight");
}

TEST_F(ClusterInputTest, NodesOnWhichTheJobMayNotBeAreNotCounted) {
  cluster_.add_to_fleet("eight");
  cluster_.rent_beyond_fleet();
  Job bound = elastic(1);
  bound.constraint = "type=four";
  cluster_.submit(bound);
  ASSERT_EQ(input().nodes().size(), 1U);
  EXPECT_EQ(input().workers_of(input().nodes()[0]), 0U);
  cluster_.submit(elastic(2));
  EXPECT_EQ(input().workers_of(input().nodes()[0]), 8U);
}

TEST_F(ClusterInputTest, OfTypesThatCostAlikeTheFirstOneOfferedIsTaken) {
  cluster_.submit(elastic(1));
  cluster_.reprice("eight", 2);
  EXPECT_EQ(cluster_.catalog()[input().kind()->offer->key.type].name, "four") << "by the worker";
  cluster_.submit(fixed(2));
  cluster_.reprice("eight", 1);
  EXPECT_EQ(rented(lone()), "four ") << "by the instance";
}

TEST_F(ClusterInputTest, WhatRestsIsNotCountedOn) {
  cluster_.submit(elastic(1));
  cluster_.rest("eight");
  EXPECT_EQ(cluster_.catalog()[input().kind()->offer->key.type].name, "four");
  cluster_.rest("four");
  EXPECT_FALSE(input().kind()) << "nothing has room for it";
}

TEST_F(ClusterInputTest, WithoutOffersWhatIsThereTellsTheType) {
  cluster_.add_to_fleet("plain");
  cluster_.add_to_fleet("four");
  cluster_.submit(elastic(1));
  const auto& kind = input().kind();
  ASSERT_TRUE(kind);
  EXPECT_EQ(kind->offer, nullptr);
  EXPECT_EQ(kind->node_holds, 4U);
}

TEST_F(ClusterInputTest, ElasticJobsShareTheClusterAndOthersWishForPlaces) {
  cluster_.submit(elastic(1));
  cluster_.submit(fixed(2));
  cluster_.submit(fixed(3, 2, false));
  cluster_.submit(fixed(4, 3, true));
  EXPECT_THAT(input().elastic(), SizeIs(1));
  ASSERT_THAT(input().lone(), SizeIs(4)) << "each task by itself, but a gang is one wish";
  EXPECT_THAT(input().lone().back().tasks, SizeIs(3));
}

TEST_F(ClusterInputTest, AnElasticJobThatTheClusterDoesNotSuitHasAPlaceOfItsOwn) {
  cluster_.rest("eight");
  cluster_.submit(elastic(1));
  cluster_.submit(elastic(2, 6));
  EXPECT_THAT(input().elastic(), SizeIs(1));
  EXPECT_THAT(input().lone(), SizeIs(1)) << "no worker of six GPUs has room on a node of four";
}

TEST_F(ClusterInputTest, JobsOfTheSpotMarketAreNotTheClusters) {
  Job spot = elastic(1);
  spot.markets = MarketChoice::spot;
  cluster_.submit(spot);
  EXPECT_FALSE(input().kind());
  EXPECT_THAT(input().elastic(), IsEmpty());
}

TEST_F(ClusterInputTest, KnowsTheWidestLeastWidth) {
  EXPECT_EQ(input().least_workers(), 0U);
  cluster_.submit(elastic(1, 1, 3));
  cluster_.submit(elastic(2, 1, 2));
  EXPECT_EQ(input().least_workers(), 3U);
}

TEST_F(ClusterInputTest, JobsThatMayNotStartNowAreNotSearched) {
  cluster_.submit(elastic(1));
  cluster_.submit(elastic(2));
  view_.emplace(cluster_.view());
  view_->turn = JobId{2};
  mask_.learn(cluster_.state());
  const ClusterInput turn(*view_, mask_);
  ASSERT_THAT(turn.elastic(), SizeIs(1));
  EXPECT_EQ(turn.elastic()[0]->job.id, JobId{2});
  EXPECT_TRUE(turn.must_stay(*cluster_.state().find(JobId{1})));
  EXPECT_FALSE(turn.must_stay(*cluster_.state().find(JobId{2})));
  EXPECT_FALSE(input().must_stay(*cluster_.state().find(JobId{1}))) << "it is nobody's turn";
}

TEST_F(ClusterInputTest, AJobOnAnInstanceThatGoesIsLeftAlone) {
  cluster_.add_to_fleet("four");
  cluster_.submit(elastic(1));
  cluster_.round();
  EXPECT_THAT(input().elastic(), SizeIs(1));
  cluster_.notice(1);
  EXPECT_THAT(input().elastic(), IsEmpty());
  EXPECT_THAT(input().nodes(), IsEmpty());
}

TEST_F(ClusterInputTest, ANodeIsTakenByThoseWhoAreNotSearched) {
  cluster_.add_to_fleet("four");
  cluster_.submit(fixed(2));
  cluster_.round();
  cluster_.submit(elastic(1));
  cluster_.round();
  ASSERT_THAT(input().nodes(), SizeIs(1));
  const RoundNode& node = input().nodes()[0];
  EXPECT_EQ(node.taken, Resources::of(1, 4, 16));
  EXPECT_TRUE(node.lone);
  EXPECT_TRUE(node.of_cluster) << "nothing is rented: all nodes are shared";
}

TEST_F(ClusterInputTest, ARentedNodeWithATaskOfAnotherKindIsNotOfTheCluster) {
  cluster_.submit(fixed(2));
  cluster_.round();
  cluster_.submit(elastic(1));
  cluster_.round();
  const ClusterInput& now = input();
  ASSERT_THAT(now.nodes(), SizeIs(2));
  EXPECT_FALSE(now.nodes()[0].of_cluster);
  EXPECT_TRUE(now.nodes()[1].of_cluster);
  EXPECT_EQ(now.workers_of(now.nodes()[1]), 8U);
}

TEST_F(ClusterInputTest, FindsTheNodeOfAnInstance) {
  cluster_.add_to_fleet("four", 2);
  ClusterInput& now = input();
  const Slot second = cluster_.state().find(InstanceId{2})->slot;
  EXPECT_EQ(now.find(second), &now.nodes()[1]);
  EXPECT_EQ(now.find(kNoSlot), nullptr);
}

TEST_F(ClusterInputTest, ALoneTaskIsGivenTheCheapestTypeWithRoom) {
  cluster_.submit(fixed(1));
  cluster_.submit(fixed(2, 1, false, 6));
  cluster_.submit(JobBuilder(3).demand(Resources::of(0, 4, 16)).build());
  EXPECT_EQ(rented(lone()), "four eight plain ");
  cluster_.rest("four");
  EXPECT_EQ(rented(lone()), "eight eight plain ");
  EXPECT_EQ(lone().places.size(), 3U);
}

TEST_F(ClusterInputTest, ATaskThatNoTypeHoldsIsRefusedForGood) {
  cluster_.submit(fixed(1, 1, false, 9));
  const Plan plan = lone();
  EXPECT_THAT(plan.launches, IsEmpty());
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_EQ(plan.refusals[0].refusal.kind, RefusalKind::never);
}

TEST_F(ClusterInputTest, AGangWithoutRoomForAllGivesBackWhatItTook) {
  cluster_.add_to_fleet("four");
  cluster_.submit(fixed(1, 5, true));
  cluster_.submit(fixed(2, 4, true));
  const Plan plan = lone();
  EXPECT_THAT(plan.places, SizeIs(4)) << "the second one has all the room";
  ASSERT_THAT(plan.refusals, SizeIs(5));
  EXPECT_THAT(
      plan.refusals,
      Each(Field(&Refuse::refusal, AllOf(Field(&Refusal::kind, RefusalKind::not_now),
                                         Field(&Refusal::code, RefusalCode::awaiting_capacity)))));
  EXPECT_EQ(plan.refusals[0].refusal.asked, 5) << "tasks that want places together";
  EXPECT_EQ(input_->nodes()[0].taken, Resources::of(4, 16, 64));
}

TEST_F(ClusterInputTest, LoneTasksGoBesideAllOthersFirst) {
  cluster_.add_to_fleet("four", 2);
  Job wide = elastic(1, 4);
  wide.kind = ElasticSpec{1, 1, {}, {}};
  wide.tasks.resize(1);
  cluster_.submit(wide);
  cluster_.round();
  cluster_.submit(fixed(2, 4, true));
  cluster_.submit(fixed(3));
  const Plan plan = lone();
  ASSERT_THAT(plan.places, SizeIs(5));
  const Slot first = cluster_.state().find(TaskId{1})->target;
  const InstanceId busy = cluster_.state().instance(first).id;
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NE(std::get<InstanceId>(plan.places[i].to), busy);
  EXPECT_EQ(std::get<InstanceId>(plan.places[4].to), busy) << "the elastic job gives way";
}

TEST_F(ClusterInputTest, TasksThatAreKeptApartGoToDifferentNodes) {
  cluster_.add_to_fleet("four", 2);
  Job apart = fixed(1, 2, true);
  apart.most_an_instance = 1;
  cluster_.submit(apart);
  const Plan plan = lone();
  ASSERT_THAT(plan.places, SizeIs(2));
  EXPECT_NE(plan.places[0].to, plan.places[1].to);
  Job three = fixed(2, 3, true);
  three.most_an_instance = 1;
  cluster_.submit(three);
  EXPECT_THAT(lone().refusals, SizeIs(3)) << "there are two nodes";
}

}  // namespace
}  // namespace muster::pollux

#include "model/cluster_state.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

class ClusterStateTest : public ::testing::Test {
 protected:
  void apply(EventBody body) { state_.apply({at_s(clock_s_++), std::move(body)}); }

  /// An instance of the type that is ready for tasks.
  InstanceId ready_instance(std::uint64_t id, std::string_view type = "it3") {
    const TypeId type_id = test::type_named(catalog_, type);
    apply(LaunchRequested{
        InstanceId{id}, type_id, Market::on_demand, catalog_[type_id].on_demand, {}});
    apply(InstanceUp{InstanceId{id}});
    apply(InstanceReady{InstanceId{id}});
    return InstanceId{id};
  }

  /// Brings task `id` of an accepted job to run on the instance.
  void run_task(std::uint64_t id, InstanceId on) {
    apply(TaskAssigned{TaskId{id}, on, {}});
    apply(StartIssued{TaskId{id}, on, state_.find(TaskId{id})->attempt + 1});
    apply(TaskStarted{TaskId{id}, state_.find(TaskId{id})->attempt, {}, {}});
  }

  /// Job 1 runs on the first instance and is told to stop there, for the second one.
  std::pair<InstanceId, InstanceId> begin_move() {
    const InstanceId source = ready_instance(0);
    const InstanceId target = ready_instance(1);
    apply(JobAccepted{JobBuilder(1).build()});
    run_task(1, source);
    apply(TaskAssigned{TaskId{1}, target, {}});
    apply(StopIssued{TaskId{1}, 1});
    return {source, target};
  }

  void expect_consistent() { EXPECT_EQ(state_.inconsistencies(), std::vector<std::string>{}); }

  Catalog catalog_ = test::table3_catalog();
  ClusterState state_{catalog_};
  double clock_s_ = 0;
};

/// Job 1 is a service whose first attempt failed; the second one runs.
class SetbacksTest : public ClusterStateTest {
 protected:
  SetbacksTest() {
    Job job = JobBuilder(1).build();
    job.kind = ServiceSpec{};
    apply(JobAccepted{job});
    on_ = ready_instance(0);
    run_task(1, on_);
    apply(TaskFailed{TaskId{1}, 1, "it has ended"});
    run_task(1, on_);
  }
  std::uint32_t setbacks() const { return state_.find(TaskId{1})->setbacks; }
  void end_instance() { apply(InstanceGone{on_, std::nullopt, CloudReason::reclaimed}); }
  void leave() {
    apply(StopIssued{TaskId{1}, 2});
    apply(TaskCheckpointed{TaskId{1}, 2, {}, {}});
  }

  InstanceId on_{};
};

TEST_F(SetbacksTest, AreForgottenWhenAnInstanceGoesOnWhichAReplicaHasStood) {
  clock_s_ += to_seconds(kForgetSetbacks);
  end_instance();
  EXPECT_EQ(setbacks(), 0U);
}

TEST_F(SetbacksTest, AreForgottenWhenAReplicaThatHasStoodLeavesItsInstance) {
  clock_s_ += to_seconds(kForgetSetbacks);
  leave();
  EXPECT_EQ(setbacks(), 0U);
}

TEST_F(SetbacksTest, AreNotForgottenWhenAReplicaHasNotStoodYet) {
  leave();
  EXPECT_EQ(setbacks(), 1U);
  on_ = ready_instance(1);
  apply(TaskAssigned{TaskId{1}, on_, {}});
  apply(StartIssued{TaskId{1}, on_, 3});
  clock_s_ += to_seconds(kForgetSetbacks);
  end_instance();
  EXPECT_EQ(setbacks(), 1U) << "the attempt has not started";
}

TEST_F(ClusterStateTest, AcceptedTasksWaitInTheOrderOfAcceptance) {
  apply(JobAccepted{JobBuilder(7).build()});
  apply(JobAccepted{JobBuilder(3).tasks(2).build()});
  std::vector<std::uint64_t> waiting;
  for (const TaskRow& task : state_.pending()) waiting.push_back(task.id.value);
  EXPECT_EQ(waiting, (std::vector<std::uint64_t>{7, 3, 301}));
  expect_consistent();
}

TEST_F(ClusterStateTest, ARunningTaskHoldsItsDemandOfTheInstance) {
  const InstanceId here = ready_instance(0);
  apply(JobAccepted{JobBuilder(1).demand(Resources::of(0, 3, 8)).build()});
  run_task(1, here);
  EXPECT_EQ(state_.find(here)->used, Resources::of(0, 3, 8));
  EXPECT_EQ(state_.find(here)->committed, Resources::of(0, 3, 8));
  EXPECT_EQ(state_.find(JobId{1})->running, 1u);
  expect_consistent();
}

TEST_F(ClusterStateTest, AnInstanceKnowsSinceWhenItIsBilled) {
  const TypeId type = test::type_named(catalog_, "it3");
  apply(LaunchRequested{InstanceId{1}, type, Market::on_demand, catalog_[type].on_demand, {}});
  apply(LaunchRequested{InstanceId{2}, type, Market::on_demand, catalog_[type].on_demand, {}});
  clock_s_ = 50;
  apply(InstanceUp{InstanceId{1}});
  apply(InstanceUp{InstanceId{2}, at_s(20)});
  EXPECT_EQ(state_.find(InstanceId{1})->up_at, at_s(50));
  EXPECT_EQ(state_.find(InstanceId{2})->up_at, at_s(20)) << "by the cloud's word";
}

TEST_F(ClusterStateTest, ATaskHoldsWhatItWasGranted) {
  const InstanceId here = ready_instance(0), there = ready_instance(1);
  apply(JobAccepted{JobBuilder(1).demand(Resources::of(0, 3, 8)).build()});
  const Grant more{Resources::of(0, 4, 9)}, most{Resources::of(0, 5, 10)};
  apply(TaskAssigned{TaskId{1}, here, {}, more});
  EXPECT_EQ(state_.find(TaskId{1})->planned, more);
  EXPECT_EQ(state_.find(TaskId{1})->held, Grant{});
  EXPECT_EQ(state_.find(here)->committed, more.amount);
  apply(StartIssued{TaskId{1}, here, 1, more});
  apply(TaskStarted{TaskId{1}, 1, {}, {}});
  EXPECT_EQ(state_.find(TaskId{1})->held, more);
  EXPECT_EQ(state_.find(here)->used, more.amount);
  apply(TaskAssigned{TaskId{1}, there, {}, most});
  EXPECT_EQ(state_.find(TaskId{1})->held, more) << "until it has left";
  EXPECT_EQ(state_.find(TaskId{1})->planned, most);
  EXPECT_EQ(state_.find(there)->committed, most.amount);
  EXPECT_EQ(state_.sums().used.value(), more.amount);
  expect_consistent();
  apply(StopIssued{TaskId{1}, 1});
  apply(TaskCheckpointed{TaskId{1}, 1, {}});
  EXPECT_EQ(state_.find(TaskId{1})->held, Grant{});
  EXPECT_EQ(state_.find(here)->used, Resources{});
  apply(TaskUnassigned{TaskId{1}, {}});
  EXPECT_EQ(state_.find(TaskId{1})->planned, Grant{});
  expect_consistent();
}

TEST_F(ClusterStateTest, AMoveHoldsTheSourceUntilTheTaskHasLeft) {
  const auto [source, target] = begin_move();
  EXPECT_FALSE(state_.find(source)->occupants.empty());
  EXPECT_TRUE(state_.find(source)->planned.empty());
  EXPECT_TRUE(state_.find(JobId{1})->migrating());
  apply(TaskCheckpointed{TaskId{1}, 1, std::chrono::seconds{3}});
  EXPECT_TRUE(state_.find(source)->occupants.empty());
  EXPECT_EQ(state_.find(TaskId{1})->phase, TaskPhase::assigned);
  EXPECT_EQ(state_.find(TaskId{1})->seen_upload, Duration{std::chrono::seconds{3}});
  apply(StartIssued{TaskId{1}, target, 2});
  EXPECT_EQ(state_.find(target)->occupants.size(), 1u);
  expect_consistent();
}

TEST_F(ClusterStateTest, ATaskMayFinishWhileItIsBeingStopped) {
  const InstanceId target = begin_move().second;
  apply(TaskFinished{TaskId{1}, 1});
  EXPECT_TRUE(state_.find(target)->planned.empty());
  apply(JobFinished{JobId{1}, JobOutcome::completed, 1, 0});
  EXPECT_EQ(state_.find(TaskId{1}), nullptr);
  EXPECT_TRUE(state_.jobs().empty());
  expect_consistent();
}

TEST_F(ClusterStateTest, TasksOfAnInstanceThatIsGoneWaitAgain) {
  const InstanceId here = ready_instance(0);
  apply(JobAccepted{JobBuilder(1).build()});
  apply(JobAccepted{JobBuilder(2).build()});
  run_task(1, here);
  apply(TaskAssigned{TaskId{2}, here, {}});
  apply(InstanceGone{here});
  EXPECT_EQ(state_.find(TaskId{1})->phase, TaskPhase::pending);
  EXPECT_EQ(state_.find(TaskId{2})->phase, TaskPhase::pending);
  EXPECT_EQ(state_.pending().size(), 2u);
  EXPECT_TRUE(state_.instances().empty());
  expect_consistent();
}

TEST_F(ClusterStateTest, TasksMeantForARefusedLaunchWaitWithItsReason) {
  apply(LaunchRequested{InstanceId{0}, TypeId{0}, Market::on_demand, {}, {}});
  apply(JobAccepted{JobBuilder(1).build()});
  apply(TaskAssigned{TaskId{1}, InstanceId{0}, {}});
  apply(
      LaunchRefused{InstanceId{0}, {RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0}});
  EXPECT_EQ(state_.find(TaskId{1})->phase, TaskPhase::pending);
  EXPECT_EQ(state_.find(TaskId{1})->reason.code, RefusalCode::cloud_capacity);
  expect_consistent();
}

TEST_F(ClusterStateTest, EqualClassesAndDemandsAreInternedOnce) {
  apply(JobAccepted{JobBuilder(1).build()});
  apply(JobAccepted{JobBuilder(2).build()});
  apply(JobAccepted{JobBuilder(3).workload_class("other").demand(Resources::of(1, 1, 1)).build()});
  EXPECT_EQ(state_.find(TaskId{1})->shape, state_.find(TaskId{2})->shape);
  EXPECT_NE(state_.find(TaskId{1})->shape, state_.find(TaskId{3})->shape);
  EXPECT_EQ(state_.classes().size(), 2u);
  EXPECT_EQ(*state_.classes().name(state_.find(TaskId{3})->cls), "other");
}

TEST_F(ClusterStateTest, TasksOfAnArrayShareTheirDemandsAndEachCountsForTheShape) {
  Job job = JobBuilder(1).tasks(3).build();
  const Demands demands(Resources::of(0, 2, 1));
  for (TaskSpec& task : job.tasks) task.demands = demands;
  // The last is equal without being a copy.
  job.tasks[2].demands = Demands(Resources::of(0, 2, 1));
  ASSERT_FALSE(job.tasks[2].demands.shares_with(demands));
  ASSERT_EQ(job.tasks[2].demands, demands);
  apply(JobAccepted{job});
  const ShapeId shape = state_.find(job.tasks[0].id)->shape;
  for (const TaskSpec& task : job.tasks) EXPECT_EQ(state_.find(task.id)->shape, shape);
  EXPECT_EQ(state_.shape_count(), 1u);
  expect_consistent();
  apply(JobFinished{JobId{1}, JobOutcome::cancelled, 1, 0});
  EXPECT_EQ(state_.shape_made(shape), 0u) << "all three have left it";
}

TEST_F(ClusterStateTest, SlotsAreUsedAgainAndIdsAreNot) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    const InstanceId here = ready_instance(i);
    apply(JobAccepted{JobBuilder(i + 1).build()});
    run_task(i + 1, here);
    apply(TaskFinished{TaskId{i + 1}, 1});
    apply(JobFinished{JobId{i + 1}, JobOutcome::completed, 1, 0});
    apply(ReleaseDecided{here, {}});
    apply(TerminateIssued{here});
    apply(InstanceGone{here});
    EXPECT_EQ(state_.find(JobId{i + 1}), nullptr);
  }
  EXPECT_TRUE(state_.jobs().empty());
  expect_consistent();
}

TEST_F(ClusterStateTest, AShapeIsDroppedWithTheLastTaskThatHasItAndItsIdUsedAgain) {
  const auto accept = [&](std::uint64_t id, double cpus) {
    apply(JobAccepted{JobBuilder(id).demand(Resources::of(0, cpus, 1)).build()});
    return state_.find(TaskId{id})->shape;
  };
  const auto end = [&](std::uint64_t id) {
    apply(JobFinished{JobId{id}, JobOutcome::cancelled, 1, 0});
  };
  const ShapeId small = accept(1, 1), large = accept(2, 4);
  EXPECT_EQ(accept(3, 4), large);
  const std::uint64_t made = state_.shape_made(small), changes = state_.shape_changes();
  end(2);
  EXPECT_EQ(state_.shape_changes(), changes) << "another task has it";
  end(1);
  EXPECT_EQ(state_.shape_made(small), 0u);
  EXPECT_GT(state_.shape_changes(), changes);
  expect_consistent();

  EXPECT_EQ(accept(4, 2), small) << "the lowest id that is free";
  EXPECT_GT(state_.shape_made(small), made) << "and it is known to be another shape";
  EXPECT_EQ(state_.shape(small).demands, Demands(Resources::of(0, 2, 1)));
  EXPECT_EQ(accept(5, 1), ShapeId{2});
  for (std::uint64_t id = 10; id < 100; ++id) {
    accept(id, static_cast<double>(id));
    end(id);
  }
  EXPECT_EQ(state_.shape_count(), 4u);
  expect_consistent();
}

using ClusterStateDeathTest = ClusterStateTest;

TEST_F(ClusterStateDeathTest, OverfillingAnInstanceStopsTheProcess) {
  const InstanceId here = ready_instance(0);
  apply(JobAccepted{JobBuilder(1).demand(Resources::of(0, 5, 8)).build()});
  apply(JobAccepted{JobBuilder(2).demand(Resources::of(0, 5, 8)).build()});
  run_task(1, here);
  apply(TaskAssigned{TaskId{2}, here, {}});
  EXPECT_DEATH(apply(StartIssued{TaskId{2}, here, 1}), "never filled over its capacity");
}

TEST_F(ClusterStateDeathTest, AnAttemptThatIsNotTheNextStopsTheProcess) {
  const InstanceId here = ready_instance(0);
  apply(JobAccepted{JobBuilder(1).build()});
  apply(TaskAssigned{TaskId{1}, here, {}});
  EXPECT_DEATH(apply(StartIssued{TaskId{1}, here, 2}), "raises the attempt by one");
}

}  // namespace
}  // namespace muster

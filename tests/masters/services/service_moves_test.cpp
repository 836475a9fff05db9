#include "tests/masters/services/services_fixture.hpp"

namespace muster {
namespace {

using test::ServicesTest;

TEST_F(ServicesTest, AMoveBringsAStandInToTheOtherPlace) {
  accept(1, {});
  all_ready(1);
  const TaskId first = running(1)[0];
  const auto other = services_->stand_in(elsewhere(first), {CauseCode::packed, 0}, now());
  ASSERT_TRUE(other);
  EXPECT_EQ(state().find(*other)->phase, TaskPhase::pending);
  settle();
  EXPECT_EQ(state().find(first)->phase, TaskPhase::running);
  all_ready(1);
  EXPECT_EQ(state().find(first)->phase, TaskPhase::capped);
}

TEST_F(ServicesTest, NoTaskStandsInWhereItMayNotRun) {
  accept(1, {});
  all_ready(1);
  Placing place = elsewhere(running(1)[0]);
  place.grant = Grant::of(state().catalog()[place.type].capacity + kGrant.amount);
  EXPECT_FALSE(services_->stand_in(place, {CauseCode::packed, 0}, now()));
  EXPECT_TRUE(state().find(running(1)[0])->wanted);
}

TEST_F(ServicesTest, OneThatWouldWaitForAnotherInItsOwnRoomStays) {
  accept(1, {.replicas = 1});
  all_ready(1);
  const TaskId first = running(1)[0];
  const auto other = services_->stand_in(elsewhere(first), {CauseCode::packed, 0}, now());
  ASSERT_TRUE(other);
  // All of the instance: there is room for the other one when the first has gone, and not before.
  const InstanceRow& row = state().instance(state().find(first)->at);
  const Grant all = Grant::of(state().catalog()[row.type].capacity);
  happen(TaskAssigned{*other, row.id, {}, all});
  services_->advance(now());
  check();
  EXPECT_TRUE(state().find(first)->wanted);
  EXPECT_EQ(state().find(first)->target, row.slot);
  EXPECT_EQ(state().find(*other)->phase, TaskPhase::capped);
  EXPECT_EQ(job(1).leaving, 0U);
  EXPECT_EQ(job(1).wanted, 1U);
}

TEST_F(ServicesTest, OneStaysBehindWhichASmallerOneWouldWait) {
  accept(1, {.replicas = 1, .size = {0.1, 0.1}});
  all_ready(1);
  const TaskId first = running(1)[0];
  const InstanceRow& row = state().instance(state().find(first)->at);
  const Resources& capacity = state().catalog()[row.type].capacity;
  const Grant rest = Grant::of(capacity - kGrant.amount);
  happen(JobAccepted{test::JobBuilder(9).build()});
  happen(TaskAssigned{TaskId{9}, row.id, {}, rest});
  happen(StartIssued{TaskId{9}, row.id, 1, rest});
  const auto other = services_->stand_in(elsewhere(first), {CauseCode::packed, 0}, now());
  ASSERT_TRUE(other);
  happen(TaskAssigned{*other, row.id, {}, Grant::of(Resources::of(0, 0.1, 0.1))});
  services_->advance(now());
  check();
  EXPECT_TRUE(state().find(first)->wanted);
  EXPECT_EQ(state().find(first)->target, row.slot);
  EXPECT_FALSE(state().find(*other)->wanted);
}

TEST_F(ServicesTest, OneStaysWhoseStandInEndsWithAnotherSize) {
  accept(1, {.replicas = 1, .tasks = 2, .size = {0.1, 0.1}});
  all_ready(1);
  const TaskId first = running(1)[0];
  const auto other = services_->stand_in(elsewhere(first), {CauseCode::resized, 0}, now());
  ASSERT_TRUE(other);
  const InstanceId at = state().instance(state().find(first)->at).id;
  begin_small(*other, at);
  settle();
  EXPECT_FALSE(state().find(first)->wanted) << "the other one may still come about";
  end_program(*other);
  EXPECT_TRUE(state().find(first)->wanted);
  EXPECT_EQ(state().find(first)->target, state().find(first)->at);
  EXPECT_EQ(state().find(*other)->phase, TaskPhase::capped);
  EXPECT_EQ(ready_count(), 1U) << "its clients have noticed nothing";
}

TEST_F(ServicesTest, OnAReleasedInstanceOneServesUntilYetAnotherStandInIsHealthy) {
  accept(1, {.replicas = 1, .tasks = 2, .size = {0.1, 0.1}});
  all_ready(1);
  const TaskId first = running(1)[0];
  const auto other = services_->stand_in(elsewhere(first), {CauseCode::resized, 0}, now());
  ASSERT_TRUE(other);
  const InstanceId at = roomiest();
  begin_small(*other, at);
  happen(ReleaseDecided{state().instance(state().find(first)->at).id, {}});
  end_program(*other);
  EXPECT_TRUE(is_endpoint(*state().find(first))) << "nothing else serves";
  EXPECT_EQ(state().find(*other)->attempt, 2U) << "it was stopped, and came with its own size";
  EXPECT_EQ(state().find(*other)->held, kGrant);
  all_ready(1);
  EXPECT_EQ(state().find(first)->phase, TaskPhase::capped);
  EXPECT_EQ(ready_count(), 1U);
}

TEST_F(ServicesTest, OneThatWaitsForTheRoomOfOneThatMayStopGetsIt) {
  accept(1, {.replicas = 1, .max_unavailable = 1});
  all_ready(1);
  const TaskId first = running(1)[0];
  const auto other = services_->stand_in(elsewhere(first), {CauseCode::packed, 0}, now());
  ASSERT_TRUE(other);
  const InstanceRow& row = state().instance(state().find(first)->at);
  happen(TaskAssigned{*other, row.id, {}, Grant::of(state().catalog()[row.type].capacity)});
  services_->advance(now());
  check();
  EXPECT_FALSE(state().find(first)->wanted);
  EXPECT_EQ(state().find(first)->phase, TaskPhase::stopping);
}

}  // namespace
}  // namespace muster

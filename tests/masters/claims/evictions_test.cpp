#include "masters/claims/evictions.hpp"

#include "tests/masters/master_commands.hpp"

namespace muster {
namespace {

using test::at_s;
using testing::ElementsAre;
using testing::IsEmpty;

class EvictionsTest : public test::MasterCommandsTest {
 protected:
  EvictionsTest() { make(); }
  void make(Fleet fleet = {}) {
    begin_commands(fleet);
    guard_.emplace(*recorder_, *cloud_, settings_.caps);
    rules_.emplace(*recorder_, *cloud_, *guard_, settings_);
    fleet_.emplace(*recorder_, *cloud_, *rules_, FleetOrders{std::move(fleet), 500});
    ends_.emplace(*recorder_, *tasks_, settings_, false);
    services_.emplace(*recorder_, *tasks_, *releases_, *ends_);
    evictions_.emplace(commands(), Evictions::Parts{*guard_, *fleet_, *services_});
  }
  bool evict(std::uint64_t id, CauseCode why = CauseCode::interrupted) {
    forget();
    return evictions_->evict(InstanceId{id}, why, now());
  }
  bool abandon(std::uint64_t id) {
    forget();
    return evictions_->abandon(InstanceId{id}, CauseCode::worker_lost, now());
  }
  const InstanceRow& instance(std::uint64_t id) const { return *state().find(InstanceId{id}); }

  std::optional<SpendGuard> guard_;
  std::optional<PlanRules> rules_;
  std::optional<FleetKeeper> fleet_;
  std::optional<JobEnds> ends_;
  std::optional<Services> services_;
  std::optional<Evictions> evictions_;
};

TEST_F(EvictionsTest, EverythingIsToldToStopAndTheInstanceIsGivenBack) {
  ready(0);
  submit(1);
  submit(2);
  run(1, 0);
  run(2, 0);
  EXPECT_TRUE(evict(0));
  EXPECT_THAT(numbers(effects<StopTask>()), ElementsAre(1, 2));
  EXPECT_TRUE(instance(0).released);
  EXPECT_NE(instance(0).phase, InstancePhase::terminating) << "its tasks have still to leave";
  EXPECT_TRUE(evict(0)) << "again: nothing more happens";
  EXPECT_THAT(recorder_->commit().events, IsEmpty());
  EXPECT_FALSE(evict(9));
}

TEST_F(EvictionsTest, AnEmptyInstanceEndsAtOnce) {
  ready(0);
  EXPECT_TRUE(evict(0));
  EXPECT_THAT(numbers(effects<EndInstance>()), ElementsAre(0));
}

TEST_F(EvictionsTest, AGangLosesItsOtherPlacesToo) {
  ready(0);
  ready(1);
  submit(1, 2);
  assign(1, 0);
  assign(101, 1);
  evict(0);
  EXPECT_EQ(task(101).phase, TaskPhase::pending);
  EXPECT_EQ(task(101).reason.code, RefusalCode::awaiting_round);
  EXPECT_TRUE(instance(1).released) << "nobody is meant for it any more";
}

TEST_F(EvictionsTest, AnAbandonedInstanceEndsWithWhatIsOnIt) {
  ready(0);
  submit(1);
  run(1, 0);
  EXPECT_TRUE(abandon(0));
  EXPECT_THAT(numbers(effects<EndInstance>()), ElementsAre(0));
  EXPECT_EQ(task(1).phase, TaskPhase::stopping);
  EXPECT_TRUE(abandon(0));
  EXPECT_THAT(recorder_->commit().effects, IsEmpty());
  EXPECT_FALSE(abandon(9));
}

TEST_F(EvictionsTest, WhatIsReleasedAlreadyIsAbandonedForThatCause) {
  ready(0);
  submit(1);
  run(1, 0);
  evict(0);
  abandon(0);
  const auto released = events<ReleaseDecided>();
  ASSERT_EQ(released.size(), 1U);
  EXPECT_EQ(released[0].cause.code, CauseCode::worker_lost);
}

TEST_F(EvictionsTest, ADrainedInstanceOfAFixedFleetIsNotReplaced) {
  make({{it4(), Market::on_demand, 1}});
  ready(0);
  evict(0, CauseCode::drained);
  happen(InstanceGone{InstanceId{0}, {}, CloudReason::ended});
  fleet_->keep(now());
  EXPECT_FALSE(fleet_->is_short());
}

TEST_F(EvictionsTest, AnEvictedInstanceOfAFixedFleetIs) {
  make({{it4(), Market::on_demand, 1}});
  ready(0);
  evict(0);
  happen(InstanceGone{InstanceId{0}, {}, CloudReason::ended});
  forget();
  fleet_->keep(now());
  EXPECT_EQ(effects<LaunchInstance>().size(), 1U);
}

TEST_F(EvictionsTest, TheCapHasCheckpointsSavedAndThenEndsEverythingAtOnce) {
  settings_.caps.max_usd_day = 0.4;  // an hour of it4
  make();
  ready(0);
  submit(1);
  run(1, 0);
  forget();
  evictions_->keep_caps(at_s(1000));
  EXPECT_THAT(recorder_->commit().events, IsEmpty());
  evictions_->keep_caps(at_s(3400));
  const auto released = events<ReleaseDecided>();
  ASSERT_EQ(released.size(), 1U);
  EXPECT_EQ(released[0].capped_usd, 0.4);
  EXPECT_EQ(task(1).phase, TaskPhase::stopping);
  evictions_->keep_caps(at_s(3590));
  const Commit forced = recorder_->commit();
  EXPECT_EQ(forced.at_once.size(), 1U);
  EXPECT_EQ(instance(0).phase, InstancePhase::terminating);
}

TEST_F(EvictionsTest, TheCapOnWhatIsRentedLeavesWhatIsOwnedAlone) {
  settings_.caps.max_usd_day = 0.4;
  settings_.rent_beyond_fleet = true;
  make({{it4(), Market::on_demand, 1}});
  fleet_->keep(now());
  up(0);
  ready(1);
  evictions_->keep_caps(at_s(3400));
  EXPECT_FALSE(instance(0).released);
  EXPECT_TRUE(instance(1).released);
}

}  // namespace
}  // namespace muster

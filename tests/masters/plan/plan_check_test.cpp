#include "masters/plan/plan_check.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/masters/plan/plan_check_fixture.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

TEST_F(PlanCheckTest, LetsAPlanThatFitsPass) {
  Plan plan;
  plan.launches.push_back({it3(), Market::on_demand, {}});
  plan.places = {put(1, 0), put(2, 1), {TaskId{3}, LaunchIndex{0}, {}}};
  const CheckedPlan checked = check(plan);
  for (const auto& refusal : checked.places) EXPECT_FALSE(refusal.has_value());
}

TEST_F(PlanCheckTest, RefusesWhatWouldOverfillAnInstanceWithTheNumbers) {
  Plan plan;
  plan.places = {put(1, 0), put(2, 0)};
  const CheckedPlan checked = check(plan);
  EXPECT_FALSE(checked.places[0].has_value());
  ASSERT_TRUE(checked.places[1].has_value());
  EXPECT_EQ(checked.places[1]->code, RefusalCode::over_capacity);
  EXPECT_EQ(checked.places[1]->binding, Resource::cpu);
  EXPECT_DOUBLE_EQ(checked.places[1]->asked, 5);
  EXPECT_DOUBLE_EQ(checked.places[1]->available, 3);
}

TEST_F(PlanCheckTest, HoldsGrantsAgainstTheRoomAndAgainstWhatTasksDemand) {
  Plan plan;
  plan.places = {put(1, 0), put(2, 0)};
  plan.places[0].grant = Grant::of(Resources::of(0, 9, 8));
  plan.places[1].grant = Grant::of(Resources::of(0, 4, 8));
  const CheckedPlan checked = check(plan);
  const Refusal over{RefusalKind::not_now, RefusalCode::over_capacity, Resource::cpu, 9, 8};
  const Refusal short_of{RefusalKind::not_now, RefusalCode::malformed, Resource::cpu, 5, 4};
  EXPECT_EQ(checked.places[0], over);
  EXPECT_EQ(checked.places[1], short_of);
  plan.places.resize(1);
  plan.places[0].grant = Grant::of(Resources::of(0, 8, 32));
  EXPECT_FALSE(check(plan).places[0].has_value());
}

TEST_F(PlanCheckTest, WhoSharesALaunchWithARefusedGangDoesNotGetWhatIsKeptForIt) {
  Job gang = JobBuilder(50).tasks(2).demand(Resources::of(0, 5, 8)).build();
  gang.priority = 1;
  apply(JobAccepted{gang});
  apply(JobAccepted{JobBuilder(60).gang(false).demand(Resources::of(0, 2, 8)).build()});
  apply(JobAccepted{JobBuilder(70).gang(true).demand(Resources::of(0, 2, 8)).build()});
  KeptRoom kept{TaskId{50}, queue_place_of(*state_.find(JobId{50}))};
  kept.instances = 2;
  for (const std::uint64_t other : {60U, 70U}) {
    for (const bool gang_first : {true, false}) {
      Plan plan;
      plan.launches.assign(2, {it3(), Market::on_demand, {}});
      plan.places = {{TaskId{50}, LaunchIndex{0}, {}},
                     {TaskId{5001}, LaunchIndex{1}, {}},
                     {TaskId{other}, LaunchIndex{0}, {}}};
      if (!gang_first) std::swap(plan.places[0], plan.places[2]);
      PlanLimits limits{{.max_instances = 3}, 0, {}};  // two are there
      limits.kept = kept;
      const CheckedPlan checked = check_plan(plan, state_, limits);
      EXPECT_TRUE(checked.launches[0] && checked.launches[1]) << other << gang_first;
      for (const auto& refusal : checked.places) EXPECT_TRUE(refusal) << other << gang_first;
      limits.caps.max_instances = 4;
      const CheckedPlan whole = check_plan(plan, state_, limits);
      EXPECT_FALSE(whole.launches[0] || whole.launches[1]) << "with room for all";
    }
  }
}

TEST_F(PlanCheckTest, TasksMaySwapInstances) {
  run(1, 0);
  run(2, 1);
  Plan plan;
  plan.places = {put(1, 1), put(2, 0)};
  const CheckedPlan checked = check(plan);
  EXPECT_FALSE(checked.places[0].has_value());
  EXPECT_FALSE(checked.places[1].has_value());
}

TEST_F(PlanCheckTest, ARefusedMoveKeepsItsRoomSoThatNobodyIsPutThere) {
  run(1, 0);
  run(2, 1);
  Plan plan;  // 1 cannot go to 1, where 2 stays; so 3 cannot have its room on 0
  plan.places = {put(3, 0), put(1, 1)};
  const CheckedPlan checked = check(plan);
  EXPECT_TRUE(checked.places[1].has_value());
  EXPECT_TRUE(checked.places[0].has_value());
}

TEST_F(PlanCheckTest, RefusesTheUnknownAndTheTwiceMentioned) {
  Plan plan;
  plan.places = {put(9, 0), put(1, 7), put(2, 0), put(2, 1)};
  const CheckedPlan checked = check(plan);
  EXPECT_EQ(checked.places[0]->code, RefusalCode::outdated);
  EXPECT_EQ(checked.places[1]->code, RefusalCode::outdated);
  EXPECT_FALSE(checked.places[2].has_value());
  EXPECT_EQ(checked.places[3]->code, RefusalCode::outdated);
}

TEST_F(PlanCheckTest, ATaskOnItsWayIsNotPlacedAnew) {
  apply(TaskAssigned{TaskId{1}, InstanceId{0}, {}});
  apply(StartIssued{TaskId{1}, InstanceId{0}, 1});
  Plan plan;
  plan.places = {put(1, 1)};
  EXPECT_EQ(check(plan).places[0]->code, RefusalCode::outdated);
}

TEST_F(PlanCheckTest, HoldsLaunchesToTheCapsAndWhatDependsOnThem) {
  Plan plan;
  plan.launches = {{it3(), Market::on_demand, {}}, {it3(), Market::on_demand, {}}};
  plan.places = {{TaskId{1}, LaunchIndex{0}, {}}, {TaskId{2}, LaunchIndex{1}, {}}};
  const CheckedPlan by_count = check(plan, {.max_instances = 3, .max_usd_h = 0});
  EXPECT_FALSE(by_count.launches[0].has_value());
  EXPECT_EQ(by_count.launches[1]->code, RefusalCode::instance_cap);
  EXPECT_EQ(by_count.places[1]->code, RefusalCode::instance_cap);
  const CheckedPlan by_money = check(plan, {.max_instances = 0, .max_usd_h = 2.5});
  EXPECT_FALSE(by_money.launches[0].has_value());
  EXPECT_EQ(by_money.launches[1]->code, RefusalCode::spend_cap);
  EXPECT_NEAR(by_money.launches[1]->available, 0.1, 1e-9);
}

TEST_F(PlanCheckTest, ARefusalNamesTheCapThatIsInTheWayAndItsNumber) {
  Plan plan;
  plan.launches = {{it3(), Market::on_demand, {}}};
  // Two instances cost 1.6 $/h, a third 0.8 more; an hour of all has to be left of the day's money.
  const auto refused_by = [&](double usd_h, double usd_day) {
    MasterCaps caps{.max_usd_h = usd_h, .max_usd_day = usd_day};
    caps.spend_margin = std::chrono::hours{1};
    return *check(plan, caps).launches[0];
  };
  const Refusal by_day = refused_by(90, 2);
  EXPECT_EQ(by_day.code, RefusalCode::day_cap);
  EXPECT_NEAR(by_day.asked, 0.8, 1e-9);
  EXPECT_NEAR(by_day.available, 0.4, 1e-9);
  const Refusal by_hour = refused_by(2, 90);
  EXPECT_EQ(by_hour.code, RefusalCode::spend_cap);
  EXPECT_NEAR(by_hour.available, 0.4, 1e-9);
}

TEST_F(PlanCheckTest, AGangThatCannotBePlacedWholeIsNotPlacedAtAll) {
  apply(JobAccepted{JobBuilder(4).tasks(2).gang(true).demand(Resources::of(0, 5, 8)).build()});
  Plan plan;
  plan.launches.push_back({it3(), Market::on_demand, {}});
  plan.places = {{TaskId{4}, LaunchIndex{0}, {}}, put(401, 7), put(1, 0)};
  const CheckedPlan checked = check(plan);
  EXPECT_EQ(checked.places[0]->code, RefusalCode::awaiting_peers);
  EXPECT_TRUE(checked.launches[0].has_value());
  EXPECT_FALSE(checked.places[2].has_value());
}

TEST_F(PlanCheckTest, WhatTheCloudRefusedLatelyIsNotAskedForAgain) {
  Plan plan;
  plan.launches = {{it3(), Market::on_demand, {}}, {TypeId{0}, Market::on_demand, {}}};
  const CheckedPlan checked = check_plan(plan, state_, {{}, 0, {{{it3(), Market::on_demand}}}});
  EXPECT_EQ(checked.launches[0]->code, RefusalCode::cloud_capacity);
  EXPECT_FALSE(checked.launches[1].has_value());
}

TEST_F(PlanCheckTest, AnInstanceIsGivenBackOnlyWhenAllItsTasksLeave) {
  run(1, 0);
  Plan plan;
  plan.releases = {{InstanceId{0}, {}}, {InstanceId{1}, {}}};
  EXPECT_TRUE(check(plan).releases[0].has_value());
  EXPECT_FALSE(check(plan).releases[1].has_value());
  plan.launches.push_back({it3(), Market::on_demand, {}});
  plan.places = {{TaskId{1}, LaunchIndex{0}, {}}};
  EXPECT_FALSE(check(plan).releases[0].has_value());
}

TEST_F(PlanCheckTest, AnInstanceThatGetsATaskIsNotGivenBack) {
  Plan plan;
  plan.places = {put(1, 1)};
  plan.releases = {{InstanceId{1}, {}}};
  EXPECT_TRUE(check(plan).releases[0].has_value());
}

TEST_F(PlanCheckTest, AnUnknownTypeOrMarketIsRefusedBeforeAnythingIsPriced) {
  Plan plan;
  plan.launches = {{TypeId{99}, Market::on_demand, {}},
                   {TypeId{}, Market::on_demand, {}},
                   {it3(), Market::spot, {}},
                   {it3(), Market::on_demand, {}}};
  plan.places = {{TaskId{1}, LaunchIndex{0}, {}},
                 {TaskId{2}, LaunchIndex{2}, {}},
                 {TaskId{3}, LaunchIndex{7}, {}}};
  const CheckedPlan checked = check(plan, {.max_instances = 9, .max_usd_h = 90, .max_usd_day = 9});
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(checked.launches[i].has_value());
    EXPECT_EQ(checked.launches[i]->kind, RefusalKind::broken);
    EXPECT_EQ(checked.launches[i]->code, RefusalCode::malformed);
  }
  EXPECT_FALSE(checked.launches[3].has_value());
  EXPECT_EQ(checked.places[0]->code, RefusalCode::malformed);
  EXPECT_EQ(checked.places[1]->code, RefusalCode::malformed);
  EXPECT_EQ(checked.places[2]->code, RefusalCode::outdated);
}

TEST_F(PlanCheckTest, APartWhoseFigureIsNoNumberIsRefused) {
  run(1, 0);
  const Cause no_gain{CauseCode::packed, std::numeric_limits<double>::quiet_NaN()};
  const Cause endless{CauseCode::packed, std::numeric_limits<double>::infinity()};
  Plan plan;
  plan.launches = {{it3(), Market::on_demand, no_gain}};
  plan.places = {{TaskId{2}, InstanceId{1}, endless}, {TaskId{3}, LaunchIndex{0}, {}}};
  plan.stops = {{TaskId{1}, no_gain}};
  plan.releases = {{InstanceId{1}, no_gain}};
  const CheckedPlan checked = check(plan);
  EXPECT_EQ(checked.launches[0]->code, RefusalCode::malformed);
  EXPECT_EQ(checked.places[0]->code, RefusalCode::malformed);
  EXPECT_EQ(checked.places[1]->code, RefusalCode::malformed);
  EXPECT_EQ(checked.stops[0]->code, RefusalCode::malformed);
  EXPECT_EQ(checked.releases[0]->code, RefusalCode::malformed);
}

TEST_F(PlanCheckTest, WhatAGangCannotHaveUnderACapGoesToOthers) {
  apply(JobAccepted{JobBuilder(4).tasks(3).gang(true).build()});
  Plan plan;
  plan.launches.assign(4, {it3(), Market::on_demand, {}});
  plan.places = {{TaskId{4}, LaunchIndex{0}, {}},
                 {TaskId{401}, LaunchIndex{1}, {}},
                 {TaskId{402}, LaunchIndex{2}, {}},
                 {TaskId{1}, LaunchIndex{3}, {}}};
  const CheckedPlan checked = check(plan, {.max_instances = 3});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(checked.launches[i]->code, RefusalCode::instance_cap);
    EXPECT_EQ(checked.places[i]->code, RefusalCode::instance_cap);
    EXPECT_EQ(checked.places[i]->asked, 3);
    EXPECT_EQ(checked.places[i]->available, 1);
  }
  EXPECT_FALSE(checked.launches[3].has_value());
  EXPECT_FALSE(checked.places[3].has_value());
}

TEST_F(PlanCheckTest, AGangThatDoesNotFitIntoAnInstanceTakesNoRoomFromOthers) {
  apply(JobAccepted{JobBuilder(4).tasks(2).gang(true).demand(Resources::of(0, 5, 8)).build()});
  Plan plan;  // the second one of the gang finds no room, so 1 gets that of the first
  plan.places = {{TaskId{4}, InstanceId{0}, {}}, put(2, 1), put(401, 1), put(1, 0)};
  const CheckedPlan checked = check(plan);
  EXPECT_EQ(checked.places[0]->code, RefusalCode::awaiting_peers);
  EXPECT_FALSE(checked.places[1].has_value());
  EXPECT_EQ(checked.places[2]->code, RefusalCode::over_capacity);
  EXPECT_FALSE(checked.places[3].has_value());
}

TEST_F(PlanCheckTest, InAGangsTurnNobodyElseStarts) {
  apply(JobAccepted{JobBuilder(4).tasks(2).gang(true).build()});
  run(3, 1);
  Plan plan;
  plan.launches.assign(2, {it3(), Market::on_demand, {}});
  plan.places = {put(1, 0),
                 {TaskId{2}, LaunchIndex{0}, {}},
                 put(3, 0),
                 {TaskId{4}, LaunchIndex{1}, {}},
                 {TaskId{401}, LaunchIndex{1}, {}}};
  PlanLimits limits;
  limits.turn = JobId{4};
  const CheckedPlan checked = check_plan(plan, state_, limits);
  EXPECT_EQ(checked.places[0]->code, RefusalCode::gang_turn);
  EXPECT_EQ(checked.places[1]->code, RefusalCode::gang_turn);
  EXPECT_FALSE(checked.places[2].has_value()) << "a move starts nothing";
  EXPECT_FALSE(checked.places[3].has_value());
  EXPECT_FALSE(checked.places[4].has_value());
}

TEST_F(PlanCheckTest, NothingIsRentedForAGangThatRests) {
  apply(JobAccepted{JobBuilder(4).tasks(2).gang(true).build()});
  Plan plan;
  plan.launches.assign(2, {it3(), Market::on_demand, {}});
  plan.places = {{TaskId{4}, LaunchIndex{0}, {}},
                 {TaskId{401}, InstanceId{0}, {}},
                 {TaskId{1}, LaunchIndex{1}, {}}};
  PlanLimits limits;
  limits.backed_off_gangs = {JobId{4}};
  const CheckedPlan checked = check_plan(plan, state_, limits);
  EXPECT_EQ(checked.places[0]->code, RefusalCode::cloud_capacity);
  EXPECT_EQ(checked.places[1]->code, RefusalCode::awaiting_peers);
  EXPECT_TRUE(checked.launches[0].has_value());
  EXPECT_FALSE(checked.places[2].has_value());
}

TEST_F(PlanCheckTest, AGangOfMoreThanTheCapIsToldTheCapAsItIs) {
  apply(JobAccepted{JobBuilder(4).tasks(5).gang(true).demand(Resources::of(0, 5, 8)).build()});
  Plan plan;
  plan.launches.assign(4, {it3(), Market::on_demand, {}});
  plan.places = {{TaskId{4}, InstanceId{0}, {}}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    plan.places.push_back({TaskId{401 + i}, LaunchIndex{i}, {}});
  }
  MasterCaps caps;
  caps.max_instances = 4;  // two of which are there
  for (const auto& refusal : check(plan, caps).places) {
    ASSERT_TRUE(refusal);
    EXPECT_EQ(*refusal, (Refusal{RefusalKind::not_now, RefusalCode::instance_cap, {}, 5, 4}));
  }
  caps = {};
  caps.max_usd_h = 3;  // of which 1.6 are spent
  for (const auto& refusal : check(plan, caps).places) {
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code, RefusalCode::spend_cap);
    EXPECT_NEAR(refusal->asked, 3.2, 1e-9);
    EXPECT_NEAR(refusal->available, 3, 1e-9);
  }
}

/// Gangs and single tasks in a chain: each gang that is left out lets a single task have room,
/// which the next gang counted on.
class PlanCheckPasses : public PlanCheckTest {
 protected:
  static constexpr std::uint64_t kGangs = 24;

  static std::uint64_t gang(std::uint64_t i) { return 100 + i; }
  static std::uint64_t single(std::uint64_t i) { return 300 + i; }
  static std::uint64_t place(std::uint64_t i) { return 1000 + i; }

  PlanCheckPasses() {
    for (std::uint64_t i = 0; i <= kGangs; ++i) {
      const InstanceId id{place(i)};
      apply(LaunchRequested{id, it3(), Market::on_demand, Price::from_usd_h(0.8), {}});
      apply(InstanceUp{id});
      apply(InstanceReady{id});
    }
    apply(JobAccepted{JobBuilder(99).demand(Resources::of(0, 8, 8)).build()});
    run(99, place(0));  // so the first gang does not fit
    for (std::uint64_t i = 1; i <= kGangs; ++i) {
      apply(JobAccepted{
          JobBuilder(gang(i)).tasks(2).gang(true).demand(Resources::of(0, 4, 4)).build()});
      apply(JobAccepted{JobBuilder(single(i)).gang(false).demand(Resources::of(0, 6, 4)).build()});
      // Behind the single task that lacks the room of the gang before, and before its own.
      plan_.places.push_back(put(gang(i), place(i - 1)));
      plan_.places.push_back(put(gang(i) * 100 + 1, place(i)));
      plan_.places.push_back(put(single(i), place(i)));
    }
  }
  bool stands(const CheckedPlan& checked, std::uint64_t task) const {
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (plan_.places[i].task == TaskId{task}) return !checked.places[i];
    }
    return false;
  }

  Plan plan_;
};

TEST_F(PlanCheckPasses, BeyondTheMostPassesWhatDoesNotFitIsRefusedWholeWithAReason) {
  static_assert(kGangs > kMostPasses + 4);
  const CheckedPlan checked = check(plan_);
  for (std::uint64_t i = 1; i <= kGangs; ++i) {
    SCOPED_TRACE(i);
    const bool refused = i <= kMostPasses + 1;
    EXPECT_EQ(stands(checked, gang(i)), !refused);
    EXPECT_EQ(stands(checked, gang(i) * 100 + 1), !refused) << "no part of a gang is placed";
    EXPECT_EQ(stands(checked, single(i)), i <= kMostPasses)
        << "the room of the gang of the last pass stays unused";
  }
  Plan rest;
  for (std::size_t i = 0; i < plan_.places.size(); ++i) {
    if (checked.places[i]) {
      EXPECT_TRUE(checked.places[i]->code == RefusalCode::over_capacity ||
                  checked.places[i]->code == RefusalCode::awaiting_peers);
    } else {
      rest.places.push_back(plan_.places[i]);
    }
  }
  for (const auto& refusal : check(rest).places) EXPECT_FALSE(refusal) << "what is left fits";
}

TEST_F(PlanCheckTest, NeverPutsTwoTasksOfAJobTogetherThatWantsDistinctInstances) {
  Job apart = JobBuilder(4).tasks(3).demand(Resources::of(0, 0.1, 0.1)).gang(false).build();
  apart.most_an_instance = 1;
  apply(JobAccepted{apart});
  const auto task = [&](std::size_t i) { return apart.tasks[i].id.value; };
  Plan plan;
  plan.launches.push_back({it3(), Market::on_demand, {}});
  plan.places = {put(task(0), 0), put(task(1), 0), {TaskId{task(2)}, LaunchIndex{0}, {}}};
  const CheckedPlan first = check(plan);
  EXPECT_FALSE(first.places[0].has_value());
  ASSERT_TRUE(first.places[1].has_value());
  EXPECT_EQ(first.places[1]->code, RefusalCode::distinct_instances);
  EXPECT_FALSE(first.places[2].has_value());
  plan.places[1].to = LaunchIndex{0};
  EXPECT_FALSE(check(plan).places[1].has_value());
  EXPECT_EQ(check(plan).places[2]->code, RefusalCode::distinct_instances);
  run(task(0), 0);
  plan.places = {put(task(0), 1), put(task(1), 0)};
  EXPECT_EQ(check(plan).places[1]->code, RefusalCode::distinct_instances) << "until it has left";
  plan.places = {put(task(1), 1), put(1, 0)};
  EXPECT_FALSE(check(plan).places[0].has_value());
  EXPECT_FALSE(check(plan).places[1].has_value()) << "others may join it";
}

TEST_F(PlanCheckTest, PutsNoMoreTasksOfAJobTogetherThanItAllows) {
  Job apart = JobBuilder(4).tasks(5).demand(Resources::of(0, 0.1, 0.1)).gang(false).build();
  apart.most_an_instance = 2;
  apply(JobAccepted{apart});
  const auto task = [&](std::size_t i) { return apart.tasks[i].id.value; };
  const std::optional<Refusal> fine;
  const Refusal too_many{RefusalKind::not_now, RefusalCode::distinct_instances, {}, 3, 2};
  Plan plan;
  plan.places = {put(task(0), 0), put(task(1), 0), put(task(2), 0), put(task(3), 1)};
  EXPECT_EQ(check(plan).places, (std::vector{fine, fine, std::optional(too_many), fine}));
  run(task(0), 0);
  plan.places = {put(task(1), 0), put(task(2), 0)};
  EXPECT_EQ(check(plan).places, (std::vector{fine, std::optional(too_many)})) << "one is there";
}

TEST_F(PlanCheckTest, KeepsTasksOfJobsThatAreNotMovableWhereTheyAre) {
  Job fixed = JobBuilder(4).demand(Resources::of(0, 1, 1)).build();
  fixed.movable = false;
  apply(JobAccepted{fixed});
  Plan plan;
  plan.places = {put(4, 0)};
  EXPECT_FALSE(check(plan).places[0].has_value()) << "it may start anywhere";
  run(4, 0);
  plan.places = {put(4, 1)};
  plan.releases = {{InstanceId{0}, {}}};
  const CheckedPlan checked = check(plan);
  ASSERT_TRUE(checked.places[0].has_value());
  EXPECT_EQ(checked.places[0]->code, RefusalCode::not_movable);
  EXPECT_EQ(checked.places[0]->kind, RefusalKind::not_now);
  EXPECT_TRUE(checked.releases[0].has_value()) << "it is still there";
  plan = {};
  plan.stops = {{TaskId{4}, {}}};
  EXPECT_EQ(check(plan).stops[0]->code, RefusalCode::not_movable);
}

TEST_F(PlanCheckTest, MovesNothingBeforeItHasStayedAndMakesNoLaunchForIt) {
  run(1, 0);
  Plan plan;
  plan.launches.push_back({it3(), Market::on_demand, {}});
  plan.places = {{TaskId{1}, LaunchIndex{0}, {}}};
  PlanLimits limits;
  limits.stay = {at_s(60), std::chrono::minutes{5}};
  CheckedPlan checked = check_plan(plan, state_, limits);
  ASSERT_TRUE(checked.places[0].has_value());
  EXPECT_EQ(*checked.places[0],
            (Refusal{RefusalKind::not_now, RefusalCode::min_stay, {}, 300, 60}));
  EXPECT_FALSE(checked.launched(0)) << "nobody else is to be there";
  limits.stay.now = at_s(300);
  checked = check_plan(plan, state_, limits);
  EXPECT_FALSE(checked.places[0].has_value());
  EXPECT_TRUE(checked.launched(0));
}

TEST_F(PlanCheckTest, WhatIsOwnedIsNotGivenBackAndTakesNothingOfTheCaps) {
  apply(LaunchRequested{
      InstanceId{2}, it3(), Market::on_demand, Price::from_usd_h(0.8), {CauseCode::fleet, 0}});
  Plan plan;
  plan.launches.push_back({it3(), Market::on_demand, {}});
  plan.releases = {{InstanceId{2}, {}}, {InstanceId{1}, {}}};
  PlanLimits limits{{.max_instances = 3, .max_usd_h = 2.5}, 0, {}};
  EXPECT_EQ(check_plan(plan, state_, limits).launches[0]->code, RefusalCode::instance_cap);
  limits.owns_fleet = true;
  const CheckedPlan checked = check_plan(plan, state_, limits);
  EXPECT_TRUE(checked.launched(0)) << "two are rented, for $1.6 an hour";
  ASSERT_TRUE(checked.releases[0].has_value());
  EXPECT_EQ(checked.releases[0]->code, RefusalCode::fixed_fleet);
  EXPECT_FALSE(checked.releases[1].has_value());
}

}  // namespace
}  // namespace muster

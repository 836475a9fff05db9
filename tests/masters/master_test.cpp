#include "masters/master.hpp"

#include <gtest/gtest.h>

#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;
using test::MasterTest;

TEST_F(MasterTest, AFixedFleetIsThereFromTheStartAndPlansDoNotChangeIt) {
  make_master({}, {{it3(), Market::on_demand, 2}});
  master_->keep_fleet(now());
  EXPECT_EQ(count<LaunchInstance>(commit()), 2u);
  boot(0);
  boot(1);
  ASSERT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::accepted);
  EXPECT_EQ(count<LaunchInstance>(round(together({1}))), 0u);
  EXPECT_EQ(master_->state().find(TaskId{1})->reason.code, RefusalCode::fixed_fleet);
  Plan giving_back;
  giving_back.releases.push_back({InstanceId{1}, {}});
  EXPECT_EQ(count<EndInstance>(round(giving_back)), 0u);
}

TEST_F(MasterTest, BeyondAFleetPlansRentAndGiveBackThroughARestart) {
  settings_.rent_beyond_fleet = true;
  const Fleet one{{it3(), Market::on_demand, 1}};
  make_master({}, one);
  master_->keep_fleet(now());
  boot(0);
  ASSERT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::accepted);
  EXPECT_EQ(count<LaunchInstance>(round(together({1}))), 1u);
  MasterSnapshot snapshot = master_->snapshot();
  make_master({}, one);
  EXPECT_EQ(master_->restore(std::move(snapshot), {}), "");
  EXPECT_TRUE(master_->state().find(InstanceId{0})->owned);
  EXPECT_FALSE(master_->state().find(InstanceId{1})->owned);
  boot(1);
  started(1, 1);
  master_->keep_fleet(now());
  EXPECT_EQ(count<LaunchInstance>(commit()), 0u) << "it has its fleet";
  master_->task_finished({TaskId{1}, 1, {}}, now());
  Plan giving_back;
  giving_back.releases = {{InstanceId{0}, {}}, {InstanceId{1}, {}}};
  EXPECT_EQ(count<EndInstance>(round(giving_back)), 1u);
  EXPECT_FALSE(master_->state().find(InstanceId{0})->released);
}

TEST_F(MasterTest, AFixedFleetGetsBackWhatTheCloudTookAndNotWhatAUserDrained) {
  make_master({}, {{it3(), Market::on_demand, 2}});
  master_->keep_fleet(now());
  commit();
  boot(0);
  boot(1);
  master_->instance_gone(InstanceId{0}, {}, now());
  EXPECT_EQ(count<LaunchInstance>(commit()), 1u);
  boot(2);
  EXPECT_TRUE(master_->evict(InstanceId{1}, CauseCode::drained, now()));
  EXPECT_EQ(count<EndInstance>(commit()), 1u);
  master_->instance_gone(InstanceId{1}, {}, now());
  EXPECT_EQ(count<LaunchInstance>(commit()), 0u);
}

TEST_F(MasterTest, AFixedFleetKeepsToTheCapsAndFillsUpWhenItCan) {
  make_master({.max_instances = 1}, {{it3(), Market::on_demand, 2}});
  master_->keep_fleet(now());
  EXPECT_EQ(count<LaunchInstance>(commit()), 1u);
  boot(0);
  master_->instance_gone(InstanceId{0}, {}, now());
  EXPECT_EQ(count<LaunchInstance>(commit()), 1u);
}

TEST_F(MasterTest, AnArrayThatIsRefusedAgainForTheSameReasonIsNoNews) {
  make_master({.max_instances = 1});
  master_->submit(JobBuilder(1).tasks(50).gang(false).build(), now());
  round({});
  const auto one_each = [&] {
    Plan plan;
    for (std::uint32_t i = 0; i < 50; ++i) {
      const TaskId task{i == 0 ? 1 : 100 + i};
      if (master_->state().find(task)->phase != TaskPhase::pending) continue;
      plan.places.push_back(
          {task, LaunchIndex{static_cast<std::uint32_t>(plan.launches.size())}, {}});
      plan.launches.push_back({it3(), Market::on_demand, {}});
    }
    return plan;
  };
  const auto told_by = [&](Plan plan) {
    const std::size_t before = events_.size();
    round(std::move(plan));
    return events_.size() - before;
  };
  EXPECT_GT(told_by(one_each()), 50u) << "each task is told once";
  EXPECT_EQ(told_by(one_each()), 1u) << "that there was a round";
}

TEST_F(MasterTest, RemembersWhatWasCompletedAndWhatParts) {
  one_running(1);
  clock_s_ = 100;
  master_->task_finished({TaskId{1}, 1, {}}, now());
  ASSERT_EQ(master_->ends().completed().size(), 1u);
  EXPECT_EQ(master_->ends().completed()[0].job, JobId{1});
  EXPECT_GT(master_->ends().completed()[0].together, std::chrono::seconds{90});
  Job part = JobBuilder(2).build();
  part.total_tasks = 5;
  master_->submit(part, now());
  master_->cancel(JobId{2}, now());
  EXPECT_EQ(master_->facts().terminal_parts, std::deque<JobId>{JobId{2}});
  EXPECT_EQ(master_->ends().completed_count(), 1u);
}

TEST_F(MasterTest, BringsAJobFromAcceptanceToItsEnd) {
  ASSERT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::accepted);
  EXPECT_EQ(count<LaunchInstance>(round(together({1}))), 1u);
  EXPECT_EQ(count<StartTask>(boot(0)), 1u);
  started(1, 1);
  master_->task_finished({TaskId{1}, 1}, now());
  EXPECT_EQ(count<TellJobOver>(commit()), 1u);
  Plan give_back;
  give_back.releases.push_back({InstanceId{0}, {}});
  EXPECT_EQ(count<EndInstance>(round(give_back)), 1u);
  master_->instance_gone(InstanceId{0}, {}, now());
  EXPECT_FALSE(master_->busy());
  commit();
  ASSERT_EQ(script_.seen.size(), events_.size()) << "the policy sees the log and nothing besides";
  for (std::size_t i = 0; i < events_.size(); ++i) {
    EXPECT_TRUE(script_.seen[i].body == events_[i].body) << i;
  }
}

TEST_F(MasterTest, TheJournalAloneGivesTheStateAgain) {
  one_running(1);
  one_running(2, 2);
  master_->task_finished({TaskId{1}, 1}, now());
  commit();
  ClusterState again(catalog_);
  for (const Event& event : events_) again.apply(event);
  EXPECT_EQ(again.jobs().size(), master_->state().jobs().size());
  EXPECT_EQ(again.find(TaskId{2})->phase, TaskPhase::running);
  EXPECT_EQ(again.find(InstanceId{1})->used, master_->state().find(InstanceId{1})->used);
  EXPECT_EQ(again.inconsistencies(), std::vector<std::string>{});
}

TEST_F(MasterTest, EventsAreInTheJournalBeforeEffectsAreHandedOut) {
  master_->submit(JobBuilder(1).build(), now());
  EXPECT_TRUE(events_.empty());
  commit();
  EXPECT_EQ(events_.size(), 1u);
}

TEST_F(MasterTest, AJobIsAcceptedOnce) {
  EXPECT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::accepted);
  EXPECT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::known_already);
  Job empty = JobBuilder(2).build();
  empty.tasks.clear();
  EXPECT_EQ(master_->submit(empty, now()), SubmitResult::invalid);
}

TEST_F(MasterTest, AJobIsAcceptedOnceHoweverLongAgoItWasOver) {
  one_running(1);
  master_->task_finished({TaskId{1}, 1}, now());
  commit();
  ASSERT_EQ(master_->state().find(JobId{1}), nullptr);
  EXPECT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::known_already);
  const MasterSnapshot snapshot = master_->snapshot();
  make_master({});
  master_->restore(snapshot, {});
  EXPECT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::known_already);
  make_master({});
  master_->restore({}, events_);
  EXPECT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::known_already);
  EXPECT_EQ(master_->submit(JobBuilder(2).build(), now()), SubmitResult::accepted);
}

TEST_F(MasterTest, WhatAPlanGrantsIsInTheEventsAndHeldThroughARestartOfTheGang) {
  master_->submit(JobBuilder(1).tasks(2).gang(true).build(), now());
  Plan plan = together({1, 101});
  const Grant more = Grant::of(Resources::of(0, 3, 5));
  plan.places[0].grant = more;
  round(plan);
  boot(0);
  const auto granted = [&](std::uint64_t task) {
    std::vector<std::optional<Grant>> grants;
    for (const Event& event : events_) {
      if (const auto* e = std::get_if<TaskAssigned>(&event.body); e && e->task.value == task) {
        grants.push_back(e->grant);
      }
      if (const auto* e = std::get_if<StartIssued>(&event.body); e && e->task.value == task) {
        grants.push_back(e->grant);
      }
    }
    return grants;
  };
  const Grant demanded = Grant::of(Resources::of(0, 2, 4));
  EXPECT_EQ(granted(1), (std::vector<std::optional<Grant>>{more, more}));
  EXPECT_EQ(granted(101), (std::vector<std::optional<Grant>>{demanded, demanded}));
  EXPECT_EQ(master_->state().find(InstanceId{0})->used, Resources::of(0, 5, 9));

  started(1, 1);
  started(101, 1);
  Plan move;
  move.launches.push_back({it3(), Market::on_demand, {}});
  move.places.push_back({TaskId{101}, LaunchIndex{0}, {}});
  round(move);
  EXPECT_EQ(granted(1).back(), more) << "it starts again where it is";
  EXPECT_EQ(granted(1).size(), 3u);
}

TEST_F(MasterTest, NewsOfAnOldAttemptChangeNothing) {
  one_running(1);
  master_->task_failed({TaskId{1}, 1, "it broke"}, now());
  EXPECT_EQ(master_->state().find(TaskId{1})->phase, TaskPhase::pending);
  Plan again;
  again.places.push_back({TaskId{1}, InstanceId{0}, {}});
  EXPECT_EQ(count<StartTask>(round(again)), 1u);
  const std::size_t events = events_.size();
  master_->task_finished({TaskId{1}, 1}, now());
  master_->task_started({TaskId{1}, 1, {}, {}}, now());
  master_->task_checkpointed({TaskId{1}, 1, {}}, now());
  EXPECT_EQ(count<TellJobOver>(commit()), 0u);
  EXPECT_EQ(events_.size(), events);
}

TEST_F(MasterTest, ATaskThatFailsTooOftenEndsItsJob) {
  one_running(1);
  master_->task_failed({TaskId{1}, 1, "it broke"}, now());
  Plan again;
  again.places.push_back({TaskId{1}, InstanceId{0}, {}});
  round(again);
  started(1, 2);
  master_->task_failed({TaskId{1}, 2, "it broke again"}, now());
  const std::vector<Effect> effects = commit();
  ASSERT_EQ(count<TellJobOver>(effects), 1u);
  EXPECT_EQ(std::get<TellJobOver>(effects.front()).outcome, JobOutcome::failed);
  EXPECT_TRUE(master_->state().jobs().empty());
}

TEST_F(MasterTest, AJobThatWillNotBeCompletedIsNeitherHeldNorReleased) {
  one_running(1);
  EXPECT_EQ(master_->hold(JobId{1}, true, now()), HoldResult::done);
  EXPECT_EQ(master_->hold(JobId{1}, false, now()), HoldResult::done);
  master_->cancel(JobId{1}, now());
  EXPECT_EQ(master_->hold(JobId{1}, true, now()), HoldResult::stopping);
  EXPECT_EQ(master_->hold(JobId{1}, false, now()), HoldResult::stopping);
  EXPECT_EQ(master_->hold(JobId{2}, true, now()), HoldResult::unknown);
}

TEST_F(MasterTest, WhatIsStoppedForGoodHasNotMoved) {
  one_running(1, 2);
  master_->cancel(JobId{1}, now());
  master_->task_checkpointed({TaskId{1}, 1, {}, {143, {}, {}}}, now());
  EXPECT_EQ(master_->facts().task_history(TaskId{1})->moves, 0u);
}

TEST_F(MasterTest, ATaskThatNeverFitsEndsItsJobAsRefused) {
  master_->submit(JobBuilder(1).tasks(2).build(), now());
  Plan plan;
  plan.refusals.push_back(
      {TaskId{1}, {RefusalKind::never, RefusalCode::fits_no_type, Resource::gpu, 9, 4}});
  const std::vector<Effect> effects = round(plan);
  ASSERT_EQ(count<TellJobOver>(effects), 1u);
  EXPECT_EQ(std::get<TellJobOver>(effects.front()).outcome, JobOutcome::refused);
  EXPECT_FALSE(master_->busy());
}

TEST_F(MasterTest, WhenOneOfAGangMovesAllStartAgainAfterAllHaveStopped) {
  one_running(1, 2);
  Plan move = together({});
  move.places.push_back({TaskId{1}, LaunchIndex{0}, {}});
  EXPECT_EQ(count<StopTask>(round(move)), 2u);
  EXPECT_EQ(count<StartTask>(boot(1)), 0u);
  master_->task_checkpointed({TaskId{1}, 1, {}}, now());
  EXPECT_EQ(count<StartTask>(commit()), 0u);
  EXPECT_EQ(master_->state().find(TaskId{1})->reason.code, RefusalCode::awaiting_peers);
  master_->task_checkpointed({TaskId{101}, 1, {}}, now());
  EXPECT_EQ(count<StartTask>(commit()), 2u);
  EXPECT_EQ(master_->state().instance(master_->state().find(TaskId{101})->at).id, InstanceId{0});
}

TEST_F(MasterTest, AReleasedInstanceEndsWhenItsLastTaskHasLeft) {
  one_running(1);
  Plan move = together({1});
  move.releases.push_back({InstanceId{0}, {}});
  EXPECT_EQ(count<EndInstance>(round(move)), 0u);
  boot(1);
  master_->task_checkpointed({TaskId{1}, 1, {}}, now());
  const std::vector<Effect> effects = commit();
  EXPECT_EQ(count<EndInstance>(effects), 1u);
  EXPECT_EQ(count<StartTask>(effects), 1u);
}

TEST_F(MasterTest, AMoveWaitsForRoomOnItsTarget) {
  master_->submit(JobBuilder(1).demand(Resources::of(0, 8, 8)).build(), now());
  round(together({1}));
  boot(0);
  started(1, 1);
  master_->submit(JobBuilder(2).demand(Resources::of(0, 8, 8)).build(), now());
  Plan swap = together({1});
  swap.places.push_back({TaskId{2}, InstanceId{0}, {}});
  EXPECT_EQ(count<StartTask>(round(swap)), 0u);
  EXPECT_EQ(master_->state().find(TaskId{2})->reason.code, RefusalCode::awaiting_capacity);
  master_->task_checkpointed({TaskId{1}, 1, {}}, now());
  EXPECT_EQ(count<StartTask>(commit()), 1u);
}

TEST_F(MasterTest, AtTheCapWorkWaitsWithThatReason) {
  make_master({.max_instances = 0, .max_usd_h = 0.5});
  master_->submit(JobBuilder(1).build(), now());
  EXPECT_EQ(count<LaunchInstance>(round(together({1}))), 0u);
  EXPECT_EQ(master_->state().find(TaskId{1})->reason.code, RefusalCode::spend_cap);
}

TEST_F(MasterTest, TasksOfARefusedLaunchWaitForTheNextRound) {
  master_->submit(JobBuilder(1).build(), now());
  round(together({1}));
  master_->instance_refused(InstanceId{0}, now());
  EXPECT_EQ(master_->state().find(TaskId{1})->reason.code, RefusalCode::cloud_capacity);
  EXPECT_EQ(count<LaunchInstance>(round(together({1}))), 1u);
}

TEST_F(MasterTest, ALaunchThatIsRefusedAfterItWasGivenBackIsForgotten) {
  master_->submit(JobBuilder(1).build(), now());
  round(together({1}));
  master_->cancel(JobId{1}, now());
  EXPECT_TRUE(master_->evict(InstanceId{0}, CauseCode::drained, now()));
  EXPECT_EQ(count<EndInstance>(commit()), 1u);
  master_->instance_refused(InstanceId{0}, now());
  EXPECT_EQ(master_->state().find(InstanceId{0}), nullptr);
}

TEST_F(MasterTest, AnInstanceOfWhichOnlyTheEndIsHeardIsBilledAllTheSame) {
  master_->submit(JobBuilder(1).build(), now());
  round(together({1}));
  clock_s_ = 5000;
  master_->instance_gone(InstanceId{0}, at_s(4600), now(), {at_s(1000)});
  EXPECT_EQ(master_->state().find(InstanceId{0}), nullptr);
  EXPECT_EQ(master_->ledger().total(), Money::of(Price::from_usd_h(0.8), from_seconds(3600)));
}

TEST_F(MasterTest, AGangRefusedInPartByTheCloudGivesBackItsOtherPlaces) {
  master_->submit(JobBuilder(1).tasks(2).build(), now());
  Plan apart = together({1});
  apart.launches.push_back({it3(), Market::on_demand, {}});
  apart.places.push_back({TaskId{101}, LaunchIndex{1}, {}});
  round(apart);
  master_->instance_refused(InstanceId{1}, now());
  EXPECT_EQ(master_->state().find(TaskId{1})->phase, TaskPhase::pending);
  EXPECT_EQ(master_->state().find(TaskId{1})->reason.code, RefusalCode::cloud_capacity);
}

TEST_F(MasterTest, LaunchesAreOrderedForTheOldestTaskFirst) {
  master_->submit(JobBuilder(1).build(), now());
  master_->submit(JobBuilder(2).build(), now());
  Plan plan;
  plan.launches = {{it3(), Market::on_demand, {}}, {TypeId{0}, Market::on_demand, {}}};
  plan.places = {{TaskId{2}, LaunchIndex{0}, {}}, {TaskId{1}, LaunchIndex{1}, {}}};
  const std::vector<Effect> effects = round(plan);
  EXPECT_EQ(std::get<LaunchInstance>(effects.at(0)).type, TypeId{0});
  EXPECT_EQ(master_->state().instance(master_->state().find(TaskId{2})->target).type, it3());
}

TEST_F(MasterTest, ACancelledJobEndsWhenItsTasksHaveStopped) {
  one_running(1);
  master_->cancel(JobId{1}, now());
  EXPECT_EQ(count<StopTask>(commit()), 1u);
  EXPECT_TRUE(master_->state().find(JobId{1}) != nullptr);
  master_->task_checkpointed({TaskId{1}, 1, {}}, now());
  const std::vector<Effect> effects = commit();
  ASSERT_EQ(count<TellJobOver>(effects), 1u);
  EXPECT_EQ(std::get<TellJobOver>(effects.front()).outcome, JobOutcome::cancelled);
}

TEST_F(MasterTest, ATaskOfACancelledJobThatWasOnlyStartingIsStoppedOnceItRuns) {
  master_->submit(JobBuilder(1).build(), now());
  round(together({1}));
  boot(0);
  master_->cancel(JobId{1}, now());
  EXPECT_EQ(count<StopTask>(commit()), 0u);
  started(1, 1);
  EXPECT_EQ(count<StopTask>(commit()), 1u);
  master_->task_checkpointed({TaskId{1}, 1, {}}, now());
  EXPECT_EQ(count<TellJobOver>(commit()), 1u);
}

TEST_F(MasterTest, AWaitingJobIsCancelledAtOnce) {
  master_->submit(JobBuilder(1).build(), now());
  master_->cancel(JobId{1}, now());
  EXPECT_EQ(count<TellJobOver>(commit()), 1u);
  EXPECT_FALSE(master_->busy());
}

TEST_F(MasterTest, AnInstanceThatVanishesSendsItsTasksBackToWait) {
  one_running(1);
  master_->instance_gone(InstanceId{0}, {}, now());
  EXPECT_EQ(master_->state().find(TaskId{1})->phase, TaskPhase::pending);
  round(together({1}));
  boot(1);
  EXPECT_EQ(master_->state().find(TaskId{1})->attempt, 2u);
}

TEST_F(MasterTest, WritesDownWhatItShowsThePolicyOfThroughput) {
  one_running(1);
  const ThroughputSample samples[] = {{TaskId{1}, 0.8}, {TaskId{1}, 0.7}, {TaskId{9}, 1}};
  master_->round(samples, now());
  commit();
  const Event& measured = events_.at(events_.size() - 2);
  EXPECT_EQ(std::get<Measured>(measured.body).samples,
            (std::vector<ThroughputSample>{{TaskId{1}, 0.8}}))
      << "each known task once";
  EXPECT_TRUE(std::holds_alternative<RoundDecided>(events_.back().body));
  master_->round({}, now());
  commit();
  EXPECT_TRUE(std::holds_alternative<RoundDecided>(events_.at(events_.size() - 2).body))
      << "nothing was measured";
}

TEST_F(MasterTest, BooksTheMeanOfTheThroughputsSeen) {
  one_running(1);
  const ThroughputSample low[] = {{TaskId{1}, 0.8}};
  const ThroughputSample high[] = {{TaskId{1}, 1.0}};
  master_->round(low, now());
  master_->round(high, now());
  master_->task_finished({TaskId{1}, 1}, now());
  commit();
  const auto& over = std::get<JobFinished>(events_.back().body);
  EXPECT_DOUBLE_EQ(over.mean_throughput, 0.9);
  EXPECT_EQ(over.throughput_samples, 2u);
}

}  // namespace
}  // namespace muster

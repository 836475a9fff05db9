#include <algorithm>
#include <map>
#include <random>

#include "tests/masters/services/services_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::at_s;
using test::IsGolden;
using test::JobBuilder;
using test::ServicesTest;

TEST_F(ServicesTest, AServiceHasItsReplicasAndSettlesWhenAllAreHealthy) {
  accept(1, {.replicas = 3});
  EXPECT_EQ(running(1).size(), 3U);
  EXPECT_EQ(job(1).wanted, 3U);
  EXPECT_FALSE(job(1).settled);
  all_ready(1);
  EXPECT_TRUE(job(1).settled);
  EXPECT_TRUE(is_steady(state(), std::vector{JobId{1}}));
}

TEST_F(ServicesTest, ScalingUpAddsReplicasAndScalingDownTakesThoseThatServeNobodyFirst) {
  accept(1, {});
  all_ready(1);
  EXPECT_EQ(services_->scale(JobId{1}, 5, now()), ServiceResult::done);
  settle();
  EXPECT_EQ(running(1).size(), 5U);
  const std::vector<TaskId> all = running(1);
  say(all[4], true);
  EXPECT_EQ(services_->scale(JobId{1}, 3, now()), ServiceResult::done);
  settle();
  EXPECT_EQ(running(1), (std::vector{all[0], all[1], all[4]})) << "the two others were not ready";
}

TEST_F(ServicesTest, AServiceHasNoMoreReplicasThanItsJobHasTasksFor) {
  accept(1, {.replicas = 2, .tasks = 5, .surge = 2});
  EXPECT_EQ(services_->scale(JobId{1}, 4, now()), ServiceResult::too_many);
  EXPECT_EQ(services_->scale(JobId{1}, 3, now()), ServiceResult::done);
  EXPECT_EQ(services_->scale(JobId{1}, 0, now()), ServiceResult::unknown);
  EXPECT_EQ(services_->scale(JobId{9}, 1, now()), ServiceResult::unknown);
}

TEST_F(ServicesTest, AReplicaThatHasToLeaveRunsUntilAnotherOneIsReady) {
  accept(1, {});
  all_ready(1);
  const TaskId first = running(1)[0];
  EXPECT_TRUE(services_->relieve(*state().find(first), CauseCode::drained, now()));
  settle();
  EXPECT_EQ(state().find(first)->phase, TaskPhase::running);
  EXPECT_EQ(state().find(first)->target, kNoSlot) << "its instance may be given back behind it";
  ASSERT_EQ(running(1).size(), 3U);
  EXPECT_EQ(ready_count(), 2U);
  all_ready(1);
  EXPECT_EQ(state().find(first)->phase, TaskPhase::capped);
  EXPECT_EQ(state().find(first)->reason.code, RefusalCode::spare_replica);
  EXPECT_EQ(running(1).size(), 2U);
  EXPECT_EQ(ready_count(), 2U);
}

TEST_F(ServicesTest, OneThatIsNotReadyLeavesAtOnce) {
  accept(1, {});
  const TaskId first = running(1)[0];
  EXPECT_TRUE(services_->relieve(*state().find(first), CauseCode::drained, now()));
  settle();
  EXPECT_EQ(state().find(first)->phase, TaskPhase::capped);
  EXPECT_EQ(running(1).size(), 2U);
}

TEST_F(ServicesTest, WithAReplicaThatMayBeMissingItLeavesBeforeTheOtherIsReady) {
  accept(1, {.replicas = 3, .max_unavailable = 1});
  all_ready(1);
  const TaskId first = running(1)[0];
  services_->relieve(*state().find(first), CauseCode::drained, now());
  settle();
  EXPECT_NE(state().find(first)->phase, TaskPhase::running);
  EXPECT_EQ(ready_count(), 2U);
}

TEST_F(ServicesTest, AnUpdateReplacesReplicaByReplica) {
  accept(1, {.replicas = 3});
  all_ready(1);
  accept(2, {.replicas = 3, .replaces = 1});
  EXPECT_EQ(running(1).size(), 3U);
  EXPECT_EQ(running(2).size(), 1U) << "one more than the service is to have";
  say(running(2)[0], true);
  settle();
  EXPECT_EQ(running(1).size(), 2U);
  EXPECT_EQ(running(2).size(), 2U);
  all_ready(2);
  EXPECT_TRUE(is_over(1));
  EXPECT_EQ(running(2).size(), 3U);
  EXPECT_TRUE(job(2).settled);
}

TEST_F(ServicesTest, WithoutASurgeTheOldOneLeavesFirst) {
  accept(1, {.replicas = 2, .surge = 0, .max_unavailable = 1});
  all_ready(1);
  accept(2, {.replicas = 2, .surge = 0, .max_unavailable = 1, .replaces = 1});
  EXPECT_EQ(running(1).size(), 1U);
  EXPECT_EQ(running(2).size(), 1U);
  all_ready(2);
  EXPECT_TRUE(is_over(1));
  EXPECT_EQ(ready_count(), 2U);
}

TEST_F(ServicesTest, ARevisionThatDoesNotComeAboutIsGivenUpAndTheOneBeforeHasAllAgain) {
  accept(1, {.replicas = 3});
  all_ready(1);
  accept(2, {.replicas = 3, .replaces = 1});
  say(running(2)[0], true);
  settle();
  ASSERT_EQ(running(1).size(), 2U);
  ASSERT_TRUE(services_->next());
  clock_s_ += 2 * 3600;
  settle();
  EXPECT_EQ(job(2).replicas, 0U);
  EXPECT_EQ(running(1).size(), 3U);
  EXPECT_EQ(ready_count(), 3U) << "the ready one of the other revision is still needed";
  all_ready(1);
  EXPECT_TRUE(is_over(2));
  EXPECT_EQ(job(1).failed_update, JobId{2});
  EXPECT_EQ(job(1).wanted, 3U);
}

TEST_F(ServicesTest, ARevisionThatIsGivenUpLeavesItsLastTroubleToItsHistory) {
  ends_.emplace(*recorder_, *tasks_, settings_, true);
  accept(1, {.replicas = 3});
  all_ready(1);
  const auto given_up = [&](std::uint64_t id, const ReplicaState& last) {
    accept(id, {.replicas = 3, .replaces = 1});
    happen(ReplicaChanged{running(id)[0], 1, last});
    clock_s_ += 2 * 3600;
    settle();
    all_ready(1);
    EXPECT_TRUE(is_over(id));
    const JobHistory over = recorder_->commit().over.at(0);
    EXPECT_EQ(over.outcome, JobOutcome::failed);
    return over.tasks.at(0).reason;
  };
  ReplicaState said;
  said.trouble = "ready: port http: connection refused";
  EXPECT_EQ(given_up(2, said), said.trouble);
  said.restarts = 3;
  said.exit_code = 7;
  EXPECT_THAT(given_up(3, said), IsGolden());
  EXPECT_THAT(given_up(4, {}), IsGolden());
}

TEST_F(ServicesTest, ARevisionWhoseProgramIsNotThereIsGivenUpAtOnce) {
  accept(1, {});
  all_ready(1);
  accept(2, {.replaces = 1});
  TaskFailed news{running(2)[0], 1, "no such program"};
  news.for_good = true;
  happen(news);
  settle();
  EXPECT_TRUE(is_over(2));
  EXPECT_EQ(running(1).size(), 2U);
}

TEST_F(ServicesTest, AnUpdateDuringAnUpdateReplacesBoth) {
  accept(1, {.replicas = 2});
  all_ready(1);
  accept(2, {.replicas = 2, .replaces = 1});
  say(running(2)[0], true);
  settle();
  accept(3, {.replicas = 2, .replaces = 2});
  EXPECT_LE(running(1).size() + running(2).size() + running(3).size(), 3U);
  all_ready(3);
  EXPECT_TRUE(is_over(1));
  EXPECT_TRUE(is_over(2));
  EXPECT_EQ(running(3).size(), 2U);
}

TEST_F(ServicesTest, AScaleDuringAnUpdateIsForTheRevisionThatHasTheServiceInTheEnd) {
  accept(1, {.replicas = 2});
  all_ready(1);
  accept(2, {.replicas = 2, .replaces = 1});
  EXPECT_EQ(services_->scale(JobId{2}, 4, now()), ServiceResult::done);
  settle();
  EXPECT_EQ(job(1).replicas, 4U) << "should the update fail";
  all_ready(2);
  EXPECT_TRUE(is_over(1));
  EXPECT_EQ(running(2).size(), 4U);
}

TEST_F(ServicesTest, ARevisionThatIsReadyNowAndThenIsGivenUpAllTheSame) {
  healthy_for_ = std::chrono::seconds{30};
  accept(1, {});
  all_ready(1);
  clock_s_ += 60;
  settle();
  accept(2, {.replaces = 1});
  for (int i = 0; i < 80 && !is_over(2) && job(2).replicas > 0; ++i) {
    say(running(2)[0], true);
    settle();
    say(running(2)[0], false);
    clock_s_ += 60;
    settle();
  }
  EXPECT_TRUE(is_over(2));
  EXPECT_EQ(running(1).size(), 2U);
}

TEST_F(ServicesTest, ARevisionThatWasGivenUpEndsWithTheOneBefore) {
  accept(1, {.replicas = 3});
  all_ready(1);
  accept(2, {.replicas = 3, .replaces = 1});
  say(running(2)[0], true);
  settle();
  clock_s_ += 2 * 3600;
  settle();
  ASSERT_FALSE(is_over(2)) << "its ready replica is still needed";
  ends_->give_up(JobId{1}, JobOutcome::cancelled, now());
  settle();
  EXPECT_TRUE(is_over(1));
  EXPECT_TRUE(is_over(2));
}

TEST_F(ServicesTest, AReplicaThatCannotStartIsReplacedByAnotherTask) {
  accept(1, {});
  all_ready(1);
  const TaskId first = running(1)[0];
  services_->relieve(*state().find(first), CauseCode::drained, now());
  settle();
  const TaskId stand_in = running(1).back();
  TaskFailed news{stand_in, 1, "no such folder on this machine"};
  news.for_good = true;
  happen(news);
  settle();
  EXPECT_FALSE(state().find(stand_in)->wanted);
  all_ready(1);
  EXPECT_EQ(running(1).size(), 2U);
  EXPECT_NE(state().find(first)->phase, TaskPhase::running);
}

TEST_F(ServicesTest, OneOfWhichNothingIsHeardCountsForNobody) {
  accept(1, {});
  all_ready(1);
  const std::vector<TaskId> both = running(1);
  services_->relieve(*state().find(both[1]), CauseCode::worker_lost, now());
  EXPECT_NE(state().find(both[1])->target, kNoSlot) << "others could not start in its room";
  services_->relieve(*state().find(both[0]), CauseCode::drained, now());
  settle();
  const std::vector<TaskId> all = running(1);
  ASSERT_EQ(all.size(), 4U);
  say(all[2], true);
  settle();
  EXPECT_EQ(state().find(both[0])->phase, TaskPhase::running) << "it is one of two that serve";
  say(all[3], true);
  settle();
  EXPECT_NE(state().find(both[0])->phase, TaskPhase::running);
}

TEST_F(ServicesTest, OneOfWhichNothingWasHeardMayHaveLeftByItself) {
  accept(1, {});
  all_ready(1);
  const TaskId first = running(1)[0];
  services_->relieve(*state().find(first), CauseCode::worker_lost, now());
  happen(StopIssued{first, state().find(first)->attempt});
  check();
  happen(TaskCheckpointed{first, state().find(first)->attempt, {}, {}});
  check();
  EXPECT_EQ(state().find(first)->phase, TaskPhase::capped);
}

TEST_F(ServicesTest, AMasterThatTakesOverFirstHearsWhichReplicasAreStillReady) {
  accept(1, {});
  all_ready(1);
  const TaskId first = running(1)[0];
  services_->relieve(*state().find(first), CauseCode::drained, now());
  settle();
  services_.emplace(*recorder_, *tasks_, *releases_, *ends_);
  services_->restored(facts());
  services_->take_over();
  services_->advance(now());
  say(running(1).back(), true);
  settle();
  EXPECT_EQ(state().find(first)->phase, TaskPhase::running);
  ASSERT_TRUE(services_->next());
  clock_s_ += 11;
  settle();
  EXPECT_NE(state().find(first)->phase, TaskPhase::running);
}

TEST_F(ServicesTest, ANameIsThatOfOneServiceAndARevisionHasItsNumberFromTheMaster) {
  accept(1, {});
  Job other = JobBuilder(5).tasks(4).gang(false).build();
  other.name = "web";
  other.user = "ann";
  other.kind = ServiceSpec{};
  EXPECT_FALSE(services_->admit(other)) << "the name is taken";
  std::get<ServiceSpec>(other.kind).replaces = JobId{77};
  EXPECT_TRUE(services_->admit(other)) << "the one that it was to follow is over";
  EXPECT_EQ(other.service()->replaces, JobId{1});
  EXPECT_EQ(other.service()->revision, 2U);
  other.user = "ben";
  EXPECT_FALSE(services_->admit(other)) << "his service is over";
  std::get<ServiceSpec>(other.kind).replaces = {};
  EXPECT_TRUE(services_->admit(other));
}

TEST_F(ServicesTest, LeavingIsNoFruitlessAttemptHoweverOftenItHappens) {
  accept(1, {.replicas = 1, .tasks = 3});
  for (int i = 0; i < 50; ++i) {
    all_ready(1);
    services_->relieve(*state().find(running(1)[0]), CauseCode::drained, now());
    settle();
  }
  all_ready(1);
  EXPECT_EQ(job(1).confined, 0U);
  EXPECT_EQ(running(1).size(), 1U);
}

TEST_F(ServicesTest, AMasterThatIsStartedAgainGoesOnWhereItWas) {
  accept(1, {.replicas = 3});
  all_ready(1);
  accept(2, {.replicas = 3, .replaces = 1});
  services_.emplace(*recorder_, *tasks_, *releases_, *ends_);
  services_->restored(facts());
  all_ready(2);
  EXPECT_TRUE(is_over(1));
  EXPECT_EQ(running(2).size(), 3U);
}

/// Whatever users and programs do: no order of a master's own leaves fewer replicas ready than the
/// budget says, no more run than the surge allows, and in the end the service is as it should be.
TEST_F(ServicesTest, TheBudgetIsKeptThroughRandomChanges) {
  std::mt19937_64 random(20260727);
  const auto draw = [&](std::uint64_t below) { return random() % below; };
  std::uint64_t newest = 1;
  std::uint32_t target = 3;
  accept(1, {.replicas = target, .tasks = 10});
  all_ready(1);
  // Stops follow at once, so that the count before and after an advance is that of its own acts.
  for (int turn = 0; turn < 600; ++turn) {
    const std::vector<TaskId> there = running(newest);
    switch (draw(6)) {
      case 0:
        if (!there.empty()) say(there[draw(there.size())], draw(3) > 0);
        break;
      case 1:
        if (!there.empty()) fail(there[draw(there.size())]);
        break;
      case 2:
        if (!there.empty()) {
          services_->relieve(*state().find(there[draw(there.size())]), CauseCode::drained, now());
        }
        break;
      case 3:
        target = 1 + static_cast<std::uint32_t>(draw(5));
        EXPECT_EQ(services_->scale(JobId{newest}, target, now()), ServiceResult::done);
        break;
      case 4:
        if (newest < 40 && state().jobs().size() < 3) {
          Wish wish{.replicas = target, .tasks = 10, .replaces = newest};
          const std::size_t before = ready_count();
          accept(++newest, wish);
          EXPECT_GE(ready_count(), std::min<std::size_t>(before, target));
        }
        break;
      default:
        for (const TaskId id : there) say(id, true);
    }
    const std::size_t before = ready_count();
    settle();
    EXPECT_GE(ready_count(), std::min<std::size_t>(before, target)) << turn;
  }
  for (std::uint64_t id = 1; id <= newest; ++id) all_ready(id);
  all_ready(newest);
  EXPECT_EQ(running(newest).size(), target);
  EXPECT_EQ(state().jobs().size(), 1U);
}

}  // namespace
}  // namespace muster

#include "masters/services/autoscaler.hpp"

#include "tests/masters/services/services_fixture.hpp"

namespace muster {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// A service whose goal scales it between 1 and 6 replicas, two at first.
class AutoscalerTest : public test::ServicesTest {
 protected:
  void serve(bool at_least = false, std::vector<std::string> probe = {}) {
    Wish wish{.replicas = 2, .tasks = 7};
    wish.goal.metric = "p99_ms";
    wish.goal.bound = 100;
    wish.goal.at_least = at_least;
    wish.goal.probe = std::move(probe);
    wish.least = 1;
    wish.most = 6;
    accept(1, wish);
    all_ready(1);
  }
  void measure(TaskId id, double value) {
    happen(Measured{{}, 0, {}, {TaskMetrics{id, {{"p99_ms", value}}}}});
  }
  void measure_all(double value) {
    for (const TaskId id : running(1)) measure(id, value);
  }
  /// That time, and some of what happens in it.
  void pass(Duration time) {
    for (const double until = clock_s_ + to_seconds(time); clock_s_ < until; clock_s_ += 10) {
      settle();
      all_ready(1);
    }
  }
  std::uint32_t wish() const {
    return wished_replicas(job(1), goal_figure(state(), job(1)).value());
  }
  std::uint32_t replicas() const { return state().find(JobId{1})->replicas; }
};

TEST_F(AutoscalerTest, AsksForAsManyTimesMoreAsTheMeasuredNumberIsTooLarge) {
  serve();
  EXPECT_FALSE(goal_figure(state(), job(1))) << "nothing is measured";
  measure(running(1)[0], 180);
  measure(running(1)[1], 120);
  EXPECT_EQ(goal_figure(state(), job(1))->mean, 150);
  EXPECT_EQ(wish(), 3U);
  measure_all(109);
  EXPECT_EQ(wish(), 2U) << "a tenth more is as good as the bound";
  measure_all(111);
  EXPECT_EQ(wish(), 3U);
  measure_all(1e6);
  EXPECT_EQ(wish(), 4U) << "twice as many at the most";
  measure_all(50);
  EXPECT_EQ(wish(), 1U);
  measure_all(0);
  EXPECT_EQ(wish(), 1U) << "not below its least";
}

TEST_F(AutoscalerTest, AsksForMoreWhereTooLittleIsAchieved) {
  serve(true);
  measure_all(40);
  EXPECT_EQ(wish(), 4U);
  measure_all(70);
  EXPECT_EQ(wish(), 3U);
  measure_all(200);
  EXPECT_EQ(wish(), 1U);
  measure_all(0);
  EXPECT_EQ(wish(), 4U);
}

TEST_F(AutoscalerTest, CountsReadyReplicasAlone) {
  serve();
  measure(running(1)[0], 100);
  measure(running(1)[1], 10'000);
  say(running(1)[1], false);
  EXPECT_EQ(goal_figure(state(), job(1))->mean, 100);
}

TEST_F(AutoscalerTest, AReplicaThatLeavesScalesNothingAndItsNumberIsStillThatOfItsClients) {
  serve();
  measure(running(1)[0], 100);
  happen(ReplicaWanted{running(1)[0], false, {CauseCode::scaled, 0}});
  EXPECT_FALSE(goal_figure(state(), job(1)));
  EXPECT_EQ(served_figure(state(), job(1))->mean, 100);
  say(running(1)[0], false);
  EXPECT_FALSE(served_figure(state(), job(1))) << "clients are sent to it no more";
}

TEST_F(AutoscalerTest, ANumberOfSomeReplicasTakesNoOthersAway) {
  serve();
  services_->scale(JobId{1}, 6, now());
  pass(seconds{60});
  ASSERT_EQ(running(1).size(), 6U);
  measure(running(1)[0], 150);
  EXPECT_EQ(wish(), 6U) << "two for the one that has said its number are no wish for two in all";
  measure(running(1)[0], 10);
  measure(running(1)[1], 10);
  EXPECT_EQ(wish(), 5U) << "one does for the two that have said theirs";
  measure(running(1)[0], -1e9);
  EXPECT_EQ(wish(), 4U) << "a number below 0 takes away those that have said theirs at the most";
}

TEST_F(AutoscalerTest, TheNumberOfBeforeDoesNotCountWhereAProbeFails) {
  serve(false, {"probe"});
  measure(running(1)[0], 40);
  measure(running(1)[1], 160);
  say(running(1)[1], true, "probe probe: exit code 1");
  EXPECT_EQ(goal_figure(state(), job(1))->mean, 40);
  say(running(1)[0], true, "probe probe: exit code 1");
  EXPECT_FALSE(goal_figure(state(), job(1)));
  say(running(1)[1], true, "");
  EXPECT_EQ(goal_figure(state(), job(1))->mean, 160);
}

TEST_F(AutoscalerTest, TroubleIsNoDoubtAboutWhatAProgramReportsItself) {
  serve();
  measure_all(160);
  for (const TaskId id : running(1)) say(id, true, "port http: no answer within 1 s");
  EXPECT_EQ(goal_figure(state(), job(1))->mean, 160);
}

TEST_F(AutoscalerTest, AServiceGrowsAsSoonAsItHasTo) {
  serve();
  measure_all(160);
  pass(seconds{40});
  EXPECT_EQ(replicas(), 4U);
  EXPECT_EQ(running(1).size(), 4U);
  measure_all(160);
  pass(minutes{2});
  EXPECT_EQ(replicas(), 6U) << "no more than its most";
}

TEST_F(AutoscalerTest, AServiceShrinksToWhatWasEnoughForFiveMinutes) {
  serve();
  measure_all(160);
  pass(seconds{40});
  ASSERT_EQ(replicas(), 4U);
  measure_all(30);
  pass(minutes{2});
  measure_all(70);
  pass(minutes{1});
  measure_all(30);
  pass(minutes{1});
  EXPECT_EQ(replicas(), 4U);
  pass(minutes{2});
  EXPECT_EQ(replicas(), 3U) << "of the wishes of five minutes the largest counts";
}

TEST_F(AutoscalerTest, NothingIsDecidedWhileAServiceIsHeldOrChanges) {
  serve();
  measure_all(160);
  happen(JobHeld{JobId{1}});
  pass(seconds{60});
  EXPECT_EQ(replicas(), 2U);
  happen(JobReleased{JobId{1}});
  services_->scale(JobId{1}, 3, now());
  EXPECT_EQ(replicas(), 3U);
  clock_s_ += 30;
  services_->advance(now());
  EXPECT_EQ(replicas(), 3U) << "one replica is not there yet";
  pass(seconds{60});
  EXPECT_GT(replicas(), 3U);
}

TEST_F(AutoscalerTest, ItsUserMayChooseANumberWithinItsBounds) {
  serve();
  EXPECT_EQ(services_->scale(JobId{1}, 6, now()), ServiceResult::done);
  EXPECT_EQ(services_->scale(JobId{1}, 7, now()), ServiceResult::too_many);
  test::ServicesTest::Wish other{.tasks = 9};
  other.least = 2;
  other.most = 4;
  other.goal.metric = "p99_ms";
  other.goal.bound = 1;
  other.name = "api";
  accept(2, other);
  EXPECT_EQ(services_->scale(JobId{2}, 1, now()), ServiceResult::out_of_range);
  EXPECT_EQ(services_->scale(JobId{2}, 5, now()), ServiceResult::out_of_range);
}

TEST_F(AutoscalerTest, AMasterThatIsStartedAgainLooksAtItsServicesAgain) {
  serve();
  measure_all(160);
  Autoscaler again(*recorder_);
  EXPECT_EQ(again.next(), std::nullopt);
  again.restored(facts());
  ASSERT_TRUE(again.next());
  EXPECT_TRUE(again.take_due(*again.next() - seconds{1}).empty());
  const auto due = again.take_due(*again.next());
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0], (ServiceScaled{JobId{1}, 4, 160}));
}

TEST_F(AutoscalerTest, ServicesWithoutBoundsAreLeftAlone) {
  accept(1, {});
  all_ready(1);
  measure_all(1e6);
  pass(minutes{2});
  EXPECT_EQ(replicas(), 2U);
}

}  // namespace
}  // namespace muster

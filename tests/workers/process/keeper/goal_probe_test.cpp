#include "workers/process/keeper/goal_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/support/golden.hpp"
#include "workers/process/progress.hpp"

namespace muster::process {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::IsGolden;

ServiceGoal goal_of(const std::string& script) {
  ServiceGoal goal;
  goal.metric = "p99_ms";
  goal.bound = 50;
  goal.probe = {"/bin/sh", "-c", script};
  goal.every = milliseconds{2};
  goal.timeout = hours{1};
  return goal;
}

class GoalProbeTest : public testing::Test {
 protected:
  /// False when the condition does not hold within a minute.
  template <class Condition>
  bool goes_on(GoalProbe& probe, const Condition& until) {
    const Duration deadline = boot_time() + std::chrono::minutes{1};
    while (!until()) {
      if (boot_time() > deadline) return false;
      probe.go_on();
      int status = 0;
      const pid_t ended = waitpid(-1, &status, WNOHANG);
      if (ended > 0 && probe.take_end(ended, status)) ++ends_;
      std::vector<pollfd> polled;
      probe.add_to(polled);
      poll(polled.data(), polled.size(), 1);
    }
    return true;
  }
  std::optional<double> measured(const std::string& script) {
    GoalProbe probe(goal_of(script));
    probe.run(true, {"LOAD=12.5"});
    std::optional<double> number;
    goes_on(probe, [&] { return (number = probe.take_number()).has_value(); });
    stop(probe);
    return number;
  }
  std::string failure_of(ServiceGoal goal) {
    GoalProbe probe(std::move(goal));
    probe.run(true, {});
    goes_on(probe, [&] { return !probe.failure().empty(); });
    EXPECT_EQ(probe.take_number(), std::nullopt);
    const std::string failure = probe.failure();
    stop(probe);
    return failure;
  }
  void stop(GoalProbe& probe) {
    probe.run(false, {});
    goes_on(probe, [&] { return probe.due() == Duration::max() && !has_children(); });
  }
  static bool has_children() {
    siginfo_t ended{};
    return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
  }

  int ends_ = 0;
};

TEST_F(GoalProbeTest, TheNumberIsAllThatItPrints) {
  EXPECT_EQ(measured("echo 17"), 17);
  EXPECT_EQ(measured("echo; echo ' -0.5 '"), -0.5);
  EXPECT_EQ(measured("echo $LOAD; echo not this >&2"), 12.5);
  EXPECT_EQ(printed_number("1e3"), 1000);
  for (const char* wrong : {"", " ", "1 2", "12ms", "nan", "inf", "1e300", "0x10"}) {
    EXPECT_EQ(printed_number(wrong), std::nullopt) << wrong;
  }
}

TEST_F(GoalProbeTest, IsRunAgainAndAgainWhileTheReplicaIsReady) {
  GoalProbe probe(goal_of("echo 1"));
  EXPECT_EQ(probe.due(), Duration::max());
  probe.run(true, {});
  EXPECT_TRUE(goes_on(probe, [&] { return ends_ >= 3; }));
  stop(probe);
  const int ends = ends_;
  probe.go_on();
  EXPECT_EQ(probe.due(), Duration::max());
  EXPECT_EQ(ends_, ends);
}

TEST_F(GoalProbeTest, WhateverIsNoNumberIsNotMeasured) {
  EXPECT_THAT(failure_of(goal_of("echo many words")), IsGolden());
  EXPECT_THAT(failure_of(goal_of("echo 5; exit 3")), IsGolden());
  EXPECT_THAT(failure_of(goal_of("true")), IsGolden());
  ServiceGoal slow = goal_of("echo 5; exec sleep 1000");
  slow.timeout = milliseconds{20};
  EXPECT_THAT(failure_of(slow), IsGolden());
  ServiceGoal nowhere = goal_of("");
  nowhere.probe = {"/nowhere/probe"};
  EXPECT_THAT(failure_of(nowhere), IsGolden());
}

TEST_F(GoalProbeTest, AFloodOfOutputNeitherBlocksTheProbeNorIsKept) {
  EXPECT_THAT(failure_of(goal_of("yes | head -c 1000000")), testing::HasSubstr("no number"));
  EXPECT_EQ(measured("echo 5; echo 'all else' >&2"), 5);
}

TEST_F(GoalProbeTest, ANumberOfAReplicaThatIsNoLongerReadyIsForgotten) {
  GoalProbe probe(goal_of("sleep 0.05; echo 5"));
  probe.run(true, {});
  EXPECT_TRUE(
      goes_on(probe, [&] { return probe.due() > boot_time() + hours{1} - milliseconds{999}; }));
  stop(probe);
  EXPECT_EQ(probe.take_number(), std::nullopt);
  EXPECT_EQ(probe.failure(), "");
}

TEST_F(GoalProbeTest, WithoutAProbeNothingIsRun) {
  ServiceGoal goal = goal_of("");
  goal.probe.clear();
  GoalProbe probe(goal);
  probe.run(true, {});
  probe.go_on();
  EXPECT_EQ(probe.due(), Duration::max());
}

}  // namespace
}  // namespace muster::process

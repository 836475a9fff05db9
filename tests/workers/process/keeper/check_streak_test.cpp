#include "workers/process/keeper/check_streak.hpp"

#include <gtest/gtest.h>

#include <string>

namespace muster::process {
namespace {

/// Whether it is well ('+') or not ('-') after each check, which passes ('p') or fails ('f').
std::string states(CheckStreak& streak, const std::string& checks) {
  std::string all;
  for (const char check : checks) {
    streak.add(check == 'p');
    all += streak.is_well() ? '+' : '-';
  }
  return all;
}

CheckStreak streak_of(std::uint32_t successes, std::uint32_t failures) {
  HealthCheck check;
  check.successes = successes;
  check.failures = failures;
  return CheckStreak(check);
}

TEST(CheckStreak, ItTakesThatManyInARowToBecomeWellAndToCeaseToBe) {
  CheckStreak streak = streak_of(2, 3);
  EXPECT_FALSE(streak.is_well());
  EXPECT_EQ(states(streak, "pfppfffpp"), "---+++--+");
}

TEST(CheckStreak, OneCheckInBetweenBreaksARow) {
  CheckStreak streak = streak_of(1, 2);
  EXPECT_EQ(states(streak, "pfpfpff"), "++++++-");
}

TEST(CheckStreak, FailuresCountBeforeTheFirstSuccessToo) {
  CheckStreak streak = streak_of(1, 2);
  EXPECT_FALSE(streak.is_failing());
  states(streak, "f");
  EXPECT_TRUE(streak.is_failing());
  EXPECT_FALSE(streak.has_failed());
  states(streak, "f");
  EXPECT_TRUE(streak.has_failed());
  EXPECT_FALSE(streak.was_well());
  states(streak, "p");
  EXPECT_FALSE(streak.is_failing());
  EXPECT_FALSE(streak.has_failed());
  EXPECT_TRUE(streak.was_well());
}

TEST(CheckStreak, ThatItWasWellIsRemembered) {
  CheckStreak streak = streak_of(1, 1);
  states(streak, "pf");
  EXPECT_FALSE(streak.is_well());
  EXPECT_TRUE(streak.was_well());
}

}  // namespace
}  // namespace muster::process

#include "masters/actor/planner_trouble.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;

PlannedRound answer(bool failed, const std::string& trouble) {
  PlannedRound planned;
  planned.failed = failed;
  planned.trouble = trouble;
  return planned;
}

MasterSettings settings() {
  MasterSettings settings;
  settings.planner_retry = std::chrono::seconds{10};
  settings.planner_retry_longest = std::chrono::seconds{35};
  return settings;
}

TEST(PlannerTrouble, DoublesThePauseWithEachFailureUpToTheLongest) {
  PlannerTrouble trouble(settings());
  EXPECT_EQ(trouble.pause(at_s(0)), Duration::zero());
  for (const int pause_s : {10, 20, 35, 35}) {
    trouble.note(answer(true, "it fell"), at_s(100));
    EXPECT_EQ(trouble.pause(at_s(100)), std::chrono::seconds{pause_s});
  }
  EXPECT_EQ(trouble.pause(at_s(130)), std::chrono::seconds{5});
  EXPECT_EQ(trouble.pause(at_s(200)), Duration::zero());
}

TEST(PlannerTrouble, BeginsAnewAfterADecision) {
  PlannerTrouble trouble(settings());
  trouble.note(answer(true, "it fell"), at_s(0));
  trouble.note(answer(true, "it fell"), at_s(10));
  trouble.note(answer(false, ""), at_s(30));
  EXPECT_EQ(trouble.pause(at_s(30)), Duration::zero());
  EXPECT_EQ(trouble.text(), "");
  trouble.note(answer(true, "it fell"), at_s(40));
  EXPECT_EQ(trouble.pause(at_s(40)), std::chrono::seconds{10});
}

TEST(PlannerTrouble, SaysWhyAndWhenItIsAskedAgain) {
  PlannerTrouble trouble(settings());
  trouble.note(answer(true, "it fell"), at_s(0));
  EXPECT_TRUE(trouble.text().starts_with("it fell;")) << trouble.text();
  EXPECT_TRUE(trouble.text().ends_with(" 10 s")) << trouble.text();
  trouble.note(answer(false, "it fell once"), at_s(10));
  EXPECT_EQ(trouble.text(), "it fell once") << "there was a plan all the same";
}

}  // namespace
}  // namespace muster

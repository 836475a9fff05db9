#include "masters/actor/log_turns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LogTurnsTest : public ::testing::Test {
 protected:
  static constexpr InstanceId kHere{3};
  static constexpr InstanceId kThere{4};

  static LogName name(std::uint64_t task) { return {TaskId{task}, 1}; }
  void wait(std::uint64_t first, std::uint64_t last, InstanceId on) {
    for (std::uint64_t task = first; task <= last; ++task) {
      turns_.add(name(task), on);
      turns_.wait(name(task), on);
    }
  }
  /// The tasks whose turn it is now.
  std::vector<std::uint64_t> all_turns() {
    std::vector<std::uint64_t> tasks;
    while (const auto next = turns_.next([](const LogName&, InstanceId) { return true; })) {
      tasks.push_back(next->task.value);
    }
    return tasks;
  }

  LogTurns turns_;
};

TEST_F(LogTurnsTest, InstancesAreServedInTurnFourAttemptsOfEachAtOnce) {
  wait(1, 6, kHere);
  wait(11, 12, kThere);
  EXPECT_THAT(all_turns(), ElementsAre(1, 11, 2, 12, 3, 4));
  turns_.leave(kHere);
  EXPECT_THAT(all_turns(), ElementsAre(5));
}

TEST_F(LogTurnsTest, NoMoreThanSixtyFourAreActive) {
  for (std::uint64_t instance = 0; instance < 20; ++instance) {
    wait(10 * instance, 10 * instance + 3, InstanceId{instance});
  }
  EXPECT_EQ(all_turns().size(), 64U);
  turns_.leave(InstanceId{0});
  EXPECT_EQ(all_turns().size(), 1U);
}

TEST_F(LogTurnsTest, AWorkerThatLeftAQuestionOpenIsAskedForOneAttemptAtATimeUntilItAnswers) {
  turns_.add(name(9), kHere);
  turns_.left_open(kHere);
  EXPECT_TRUE(turns_.is_silent(kHere));
  wait(1, 3, kHere);
  EXPECT_THAT(all_turns(), ElementsAre(1));
  turns_.answered(kHere);
  EXPECT_FALSE(turns_.is_silent(kHere));
  EXPECT_THAT(all_turns(), ElementsAre(2, 3));
}

TEST_F(LogTurnsTest, WhatTheDiskDidNotTakeIsTriedOneAttemptAtATime) {
  turns_.add(name(9), kHere);
  turns_.written(kHere, false);
  wait(1, 3, kHere);
  EXPECT_THAT(all_turns(), ElementsAre(1));
  turns_.written(kHere, true);
  EXPECT_THAT(all_turns(), ElementsAre(2, 3));
}

TEST_F(LogTurnsTest, AnInstanceThatRestsHasItsTurnAfterItsRest) {
  turns_.add(name(1), kHere);
  turns_.rest(kHere, at_s(5));
  turns_.wait(name(1), kHere);
  EXPECT_EQ(turns_.next_rest(), at_s(5));
  turns_.end_rests(at_s(4.9));
  EXPECT_THAT(all_turns(), IsEmpty());
  turns_.rest(kHere, at_s(8));  // it gives trouble once more
  turns_.end_rests(at_s(5));
  EXPECT_THAT(all_turns(), IsEmpty());
  turns_.end_rests(at_s(8));
  EXPECT_THAT(all_turns(), ElementsAre(1));
  EXPECT_EQ(turns_.next_rest(), std::nullopt);
}

TEST_F(LogTurnsTest, AllRestUntilTheLatestTimeThatWasSaid) {
  turns_.rest_all(at_s(8));
  turns_.rest_all(at_s(5));
  wait(1, 1, kHere);
  EXPECT_EQ(turns_.next_rest(), at_s(8));
  turns_.end_rests(at_s(7));
  EXPECT_THAT(all_turns(), IsEmpty());
  turns_.end_rests(at_s(8));
  EXPECT_THAT(all_turns(), ElementsAre(1));
  EXPECT_EQ(turns_.next_rest(), std::nullopt);
}

TEST_F(LogTurnsTest, AnInstanceIsForgottenWithItsLastAttempt) {
  wait(1, 2, kHere);
  turns_.remove(name(1), kHere);
  EXPECT_TRUE(turns_.has(kHere));
  EXPECT_THAT(turns_.of(kHere), ElementsAre(name(2)));
  turns_.remove(name(2), kHere);
  EXPECT_FALSE(turns_.has(kHere));
  EXPECT_THAT(all_turns(), IsEmpty());
}

}  // namespace
}  // namespace muster

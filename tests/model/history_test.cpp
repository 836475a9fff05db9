// The attempts of a task that are kept, and an instance's.
#include "model/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using std::chrono::seconds;
using test::at_s;
using ::testing::ElementsAre;

constexpr std::uint32_t kMost = 3;

AttemptHistory sent(Attempt number, double at) {
  return {number, InstanceId{number}, TypeId{0}, Market::spot, at_s(at)};
}

/// One attempt after the other, each of ten seconds, of which it runs eight, and of one unit of
/// money.
TaskHistory task_of(Attempt attempts) {
  TaskHistory task;
  for (Attempt number = 1; number <= attempts; ++number) {
    const double at = 10.0 * number;
    task.attempts = number;
    begin_attempt(task, sent(number, at), Money{number - 1}, kMost);
    task.newest.started_at = at_s(at + 1);
    end_attempt(task, {AttemptEnd::moved, {}, 85, {}}, at_s(at + 9));
  }
  return task;
}

std::vector<Attempt> numbers_of(const TaskHistory& task) {
  std::vector<Attempt> numbers;
  for (const AttemptHistory& attempt : task.earlier) numbers.push_back(attempt.number);
  numbers.push_back(task.newest.number);
  return numbers;
}

TEST(TaskHistory, KeepsEveryAttemptUpToItsBound) {
  const TaskHistory task = task_of(6);
  EXPECT_THAT(numbers_of(task), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(attempts_left_out(task), 0U);
}

TEST(TaskHistory, KeepsTheFirstAndTheLastOfManyAttempts) {
  const TaskHistory task = task_of(50);
  EXPECT_THAT(numbers_of(task), ElementsAre(1, 2, 3, 48, 49, 50));
  EXPECT_EQ(attempts_left_out(task), 44U);
  EXPECT_EQ(task.ran, seconds{50 * 8}) << "those that are left out count";
}

TEST(TaskHistory, KnowsTheCostOfAnAttemptWhenAnotherHasFollowedIt) {
  const TaskHistory task = task_of(3);
  EXPECT_EQ(task.earlier[0].cost, Money{1});
  EXPECT_EQ(task.earlier[1].cost, Money{1});
  EXPECT_EQ(task.paid, Money{2}) << "what has been paid beyond that is the newest one's";
}

TEST(TaskHistory, TakesTheFirstEndOfAnAttempt) {
  TaskHistory task = task_of(1);
  end_attempt(task, {AttemptEnd::lost, CloudReason::reclaimed, {}, {}}, at_s(99));
  EXPECT_EQ(task.newest.end, AttemptEnd::moved);
  EXPECT_EQ(task.newest.ended_at, at_s(19));
  EXPECT_EQ(task.ran, seconds{8});
}

TEST(TaskHistory, AnAttemptThatNeverStartedRanForNoTime) {
  TaskHistory task;
  begin_attempt(task, sent(1, 1), {}, kMost);
  end_attempt(task, {AttemptEnd::lost, {}, {}, {}}, at_s(60));
  EXPECT_EQ(task.ran, seconds{0});
}

TEST(TaskHistory, AnInstanceThatGoesIsAStrongerReasonToLeaveThanAPlan) {
  TaskHistory task;
  begin_attempt(task, sent(1, 1), {}, kMost);
  note_leaving(task, CauseCode::packed);
  note_leaving(task, CauseCode::alone);
  EXPECT_EQ(task.newest.leaves, CauseCode::packed) << "the first plan counts";
  note_leaving(task, CauseCode::interrupted);
  note_leaving(task, CauseCode::packed);
  EXPECT_EQ(task.newest.leaves, CauseCode::interrupted);
}

TEST(TaskHistory, CutsAReasonAtAWholeCharacter) {
  TaskHistory task;
  begin_attempt(task, sent(1, 1), {}, kMost);
  std::string reason(199, 'x');
  for (int i = 0; i < 100; ++i) reason += "\xc3\xa4";
  end_attempt(task, {AttemptEnd::failed, {}, 1, reason}, at_s(2));
  EXPECT_EQ(task.newest.reason, std::string(199, 'x') + "...");
}

TEST(TaskHistory, OfAnEarlierVersionHasItsOnlyAttemptAsFarAsItIsKnown) {
  TaskHistory task;
  task.attempts = 1;
  task.finished = true;
  task.instance = InstanceId{4};
  task.started_at = at_s(10);
  task.ended_at = at_s(25);
  complete_attempts(task, true);
  EXPECT_EQ(task.newest.instance, InstanceId{4});
  EXPECT_EQ(task.newest.end, AttemptEnd::finished);
  EXPECT_EQ(task.newest.exit_code, 0);
  EXPECT_EQ(task.ran, seconds{15});
}

TEST(TaskHistory, OfAnEarlierVersionDoesNotTakeTheFirstStartForThatOfTheLastAttempt) {
  TaskHistory task;
  task.attempts = 3;
  task.failed = true;
  task.reason = "exit code 5";
  task.end.exit_code = 5;
  task.started_at = at_s(10);
  task.ended_at = at_s(99);
  complete_attempts(task, true);
  EXPECT_EQ(task.newest.number, 3U);
  EXPECT_EQ(task.newest.started_at, std::nullopt);
  EXPECT_EQ(task.newest.ended_at, at_s(99));
  EXPECT_EQ(task.newest.reason, "exit code 5");
  EXPECT_EQ(task.ran, std::nullopt);
  EXPECT_EQ(attempts_left_out(task), 2U);
}

TEST(TaskHistory, OfAnEarlierVersionThatStillRunsHasNoEnd) {
  TaskHistory task;
  task.attempts = 1;
  task.started_at = at_s(10);
  complete_attempts(task, false);
  EXPECT_EQ(task.newest.end, AttemptEnd::not_over);
  end_attempt(task, {AttemptEnd::finished, {}, 0, {}}, at_s(30));
  EXPECT_EQ(task.ran, seconds{20});
}

TEST(InstanceHistory, KeepsTheLastAttemptsThatWereThere) {
  InstanceHistory instance;
  for (std::uint64_t job = 1; job <= 5; ++job) {
    begin_visit(instance, {JobId{job}, 0, 1, at_s(1)}, kMost);
  }
  ASSERT_EQ(instance.visits.size(), 3U);
  EXPECT_EQ(instance.visits.front().job, JobId{3});
  EXPECT_EQ(instance.visits_before, 2U);
}

TEST(InstanceHistory, EndsTheNewestAttemptOfATask) {
  InstanceHistory instance;
  begin_visit(instance, {JobId{1}, 0, 1, at_s(1)}, kMost);
  end_visit(instance, {JobId{1}, 0, 1, {}, at_s(5), AttemptEnd::moved});
  begin_visit(instance, {JobId{1}, 0, 2, at_s(6)}, kMost);
  end_visit(instance, {JobId{1}, 0, 2, {}, at_s(9), AttemptEnd::finished});
  end_visit(instance, {JobId{2}, 0, 1, {}, at_s(9), AttemptEnd::finished});
  EXPECT_EQ(instance.visits[0].end, AttemptEnd::moved);
  EXPECT_EQ(instance.visits[0].ended_at, at_s(5));
  EXPECT_EQ(instance.visits[1].end, AttemptEnd::finished);
}

}  // namespace
}  // namespace muster

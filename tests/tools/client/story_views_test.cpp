// Attempts, lives of instances and decisions as people read them; the texts stand in
// tests/golden/tools/client/story_views.txt.
#include "tools/client/story_views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"

namespace muster::client {
namespace {

using muster::test::at_s;
using muster::test::IsGolden;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Times are those of UTC.
class StoryViews : public testing::Test {
 protected:
  StoryViews() {
    const char* before = std::getenv("TZ");
    if (before != nullptr) before_ = before;
    setenv("TZ", "UTC0", 1);
    tzset();
  }
  ~StoryViews() override {
    before_ ? setenv("TZ", before_->c_str(), 1) : unsetenv("TZ");
    tzset();
  }

 private:
  std::optional<std::string> before_;
};

/// Sent at 100 s times its number, lost a minute later.
AttemptView attempt_of(Attempt number) {
  AttemptView attempt;
  attempt.attempt = number;
  attempt.instance = InstanceId{number + 10};
  attempt.instance_type = "c7i.large";
  attempt.market = Market::spot;
  attempt.sent = at_s(100 * number);
  attempt.started = at_s(100 * number + 1);
  attempt.ended = at_s(100 * number + 61);
  attempt.ran_s = 60;
  attempt.end = AttemptEnd::lost;
  attempt.why = "lost with its spot instance, which the cloud took back";
  attempt.usd = 0.0006;
  return attempt;
}

JobPage page_of(TaskView task) {
  JobPage page;
  page.job.job = JobId{4};
  page.job.name = "count";
  page.job.user = "ada";
  page.job.state = ShownState::running;
  page.job.tasks = 1;
  page.job.whole = 1;
  page.job.command = {"./count.sh"};
  page.tasks = {std::move(task)};
  return page;
}

TaskView three_attempts() {
  TaskView task;
  task.phase = ShownPhase::finished;
  task.attempt = 3;
  task.attempts = {attempt_of(1), attempt_of(2), attempt_of(3)};
  task.attempts->at(1).end = AttemptEnd::failed;
  task.attempts->at(1).exit_code = 5;
  task.attempts->at(1).why = "failed: exit code 5";
  task.attempts->at(2).end = AttemptEnd::finished;
  task.attempts->at(2).exit_code = 0;
  task.attempts->at(2).why = "finished";
  return task;
}

TEST_F(StoryViews, ShowEveryAttemptInATable) {
  AttemptTable table;
  const std::string text = table.next(page_of(three_attempts()));
  EXPECT_THAT(text, AllOf(HasSubstr("1m00s"), HasSubstr("$0.0006"), IsGolden()));
  EXPECT_THAT(table.next(page_of(three_attempts())), Not(HasSubstr("ATTEMPT")));
}

TEST_F(StoryViews, SayWhereAttemptsAreLeftOut) {
  TaskView task = three_attempts();
  task.attempts->at(2).attempt = 50;
  task.attempts_left_out = 47;
  AttemptTable table;
  EXPECT_THAT(table.next(page_of(task)), AllOf(HasSubstr("47"), IsGolden()));
  EXPECT_THAT(attempt_lines(task), AllOf(HasSubstr("47"), IsGolden()));
}

TEST_F(StoryViews, HaveARowForATaskThatHasNoAttempt) {
  TaskView waits;
  waits.attempts.emplace();
  waits.reason = ReasonView{RefusalKind::not_now, "instance cap",
                            "waits; the next round is at 2027-01-15 08:00:00 UTC"};
  AttemptTable table;
  EXPECT_THAT(table.next(page_of(waits)),
              AllOf(HasSubstr("08:00:00"), Not(HasSubstr("UTC")), IsGolden()));
  TaskView earlier;
  AttemptTable other;
  EXPECT_THAT(other.next(page_of(earlier)), IsGolden());
}

TEST_F(StoryViews, SayNothingOfAnOnlyAttemptThatRunsOrHasFinished) {
  TaskView task = three_attempts();
  task.attempts->erase(task.attempts->begin(), task.attempts->begin() + 2);
  EXPECT_EQ(attempt_lines(task), "");
  task.attempts->front().end = AttemptEnd::not_over;
  EXPECT_EQ(attempt_lines(task), "");
  task.attempts->front().end = AttemptEnd::lost;
  EXPECT_NE(attempt_lines(task), "");
}

TEST_F(StoryViews, ExplainAttemptsBelowTheirTask) {
  WhyLines lines;
  EXPECT_THAT(lines.next(page_of(three_attempts())), IsGolden());
}

TEST_F(StoryViews, ExplainTheOnlyAttemptOfAJobThatIsOver) {
  TaskView task = three_attempts();
  task.attempts->erase(task.attempts->begin(), task.attempts->begin() + 2);
  JobPage page = page_of(std::move(task));
  page.job.state = ShownState::completed;
  WhyLines lines;
  EXPECT_THAT(lines.next(page), IsGolden());
}

TEST_F(StoryViews, ExplainTasksThatAreAlikeInOneLine) {
  JobPage page = page_of(three_attempts());
  page.job.state = ShownState::completed;
  page.job.tasks = page.job.whole = 60;
  page.tasks.clear();
  for (std::uint32_t index = 0; index < 60; ++index) {
    TaskView task = three_attempts();
    task.index = index;
    task.why = "has finished";
    if (index != 7) task.attempts->erase(task.attempts->begin(), task.attempts->begin() + 2);
    page.tasks.push_back(std::move(task));
  }
  WhyLines lines;
  EXPECT_THAT(lines.next(page), IsGolden());
}

TEST_F(StoryViews, TakeTheTimeByTheClockForHowLongATaskRan) {
  TaskView task = three_attempts();
  task.wall_s = 180;
  TaskTable table;
  EXPECT_THAT(table.next(page_of(task)), HasSubstr("3m00s"));
}

TEST_F(StoryViews, TellTheLifeOfAnInstance) {
  InstanceLife life;
  life.instance = InstanceId{3};
  life.type = "c7i.large";
  life.market = Market::spot;
  life.zone = "a";
  life.master = "m0";
  life.stage = InstanceStage::ended;
  life.requested = at_s(100);
  life.up = at_s(101);
  life.ready = at_s(102);
  life.released = at_s(400);
  life.ended = at_s(405);
  life.why_rented = "an instance of its own costs least";
  life.why_ended = "no task is left on it";
  life.usd_h = 0.0357;
  life.usd = 0.003;
  life.tasks = {{JobId{4}, 0, 1, at_s(102), at_s(200), AttemptEnd::finished},
                {JobId{5}, 7, 2, at_s(110), {}, AttemptEnd::not_over}};
  life.tasks_before = 60;
  EXPECT_THAT(view(life), AllOf(HasSubstr("$0.0030"), HasSubstr("60"), IsGolden()));
}

TEST_F(StoryViews, TellOfAnInstanceThatTheCloudDidNotGive) {
  InstanceLife life;
  life.instance = InstanceId{3};
  life.master = "m0";
  life.stage = InstanceStage::refused;
  life.requested = at_s(100);
  life.ended = at_s(101);
  life.why_ended = "the cloud did not give it: capacity";
  EXPECT_THAT(view(life), IsGolden());
}

TEST_F(StoryViews, SayThatNoDecisionIsKept) {
  EXPECT_THAT(view(DecisionsView{}, true), IsGolden());
}

}  // namespace
}  // namespace muster::client

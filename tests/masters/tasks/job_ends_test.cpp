#include "masters/tasks/job_ends.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

class JobEndsTest : public test::MasterPartsTest {
 protected:
  JobEndsTest() { make(false); }
  void make(bool keep_history) {
    settings_.max_attempts = 2;
    settings_.max_losses = 3;
    begin();
    cloud_.emplace(*recorder_, 0);
    releases_.emplace(*recorder_, *cloud_);
    tasks_.emplace(*recorder_, *releases_);
    ends_.emplace(*recorder_, *tasks_, settings_, keep_history);
    ready(0);
  }
  void accept(Job job) { happen(JobAccepted{std::move(job)}); }
  static Job array_of(std::size_t tasks) { return JobBuilder(1).tasks(tasks).gang(false).build(); }
  void finish(std::uint64_t id) { happen(TaskFinished{TaskId{id}, 1, {}}); }
  static TaskFailed failure(std::uint64_t id, FailureKind kind = FailureKind::unknown) {
    return {TaskId{id}, 1, "it fell", {}, false, kind};
  }
  void fail_for_good(std::uint64_t id) {
    TaskFailed news = failure(id);
    news.for_good = true;
    happen(news);
  }
  void fail(std::uint64_t id, FailureKind kind = FailureKind::unknown) {
    happen(failure(id, kind));
  }
  /// What was told of ends since the last look.
  std::vector<TellJobOver> told() { return effects<TellJobOver>(); }
  void end_if_done() { ends_->end_if_done(JobId{1}, now()); }

  std::optional<CloudOrders> cloud_;
  std::optional<InstanceReleases> releases_;
  std::optional<TaskOrders> tasks_;
  std::optional<JobEnds> ends_;
};

TEST_F(JobEndsTest, AJobIsCompletedWhenItsLastTaskHasFinished) {
  accept(array_of(2));
  run(1, 0);
  run(101, 0);
  finish(1);
  end_if_done();
  EXPECT_THAT(told(), IsEmpty());
  finish(101);
  end_if_done();
  const std::vector<TellJobOver> over = told();
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].outcome, JobOutcome::completed);
  EXPECT_EQ(over[0].tasks, 2U);
  EXPECT_FALSE(over[0].broken);
  EXPECT_EQ(state().find(JobId{1}), nullptr);
}

TEST_F(JobEndsTest, HowLongTheTasksOfACompletedJobRanIsKept) {
  accept(array_of(1));
  run(1, 0);  // started with the last second
  clock_s_ += 59;
  finish(1);
  end_if_done();
  ASSERT_EQ(ends_->completed_count(), 1U);
  EXPECT_EQ(ends_->completed().back().job, JobId{1});
  EXPECT_EQ(to_seconds(ends_->completed().back().together), 60);
}

TEST_F(JobEndsTest, AGivenUpJobIsOverWhenItsTasksHaveStopped) {
  accept(array_of(3));
  run(1, 0);
  assign(101, 0);
  forget();
  ends_->give_up(JobId{1}, JobOutcome::cancelled, now());
  EXPECT_THAT(numbers(effects<StopTask>()), ElementsAre(1));
  EXPECT_EQ(task(101).target, kNoSlot);
  happen(TaskCheckpointed{TaskId{1}, 1, {}, {}});
  end_if_done();
  const std::vector<TellJobOver> over = told();
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].outcome, JobOutcome::cancelled);
  EXPECT_TRUE(over[0].broken);
  EXPECT_THAT(ends_->completed(), IsEmpty());
}

TEST_F(JobEndsTest, WhatNeverRanIsOverAtOnce) {
  accept(array_of(2));
  forget();
  ends_->give_up(JobId{1}, JobOutcome::refused, now());
  EXPECT_EQ(told().size(), 1U);
}

TEST_F(JobEndsTest, TheTasksOfAGangEndTogether) {
  accept(JobBuilder(1).tasks(2).build());
  run(1, 0);
  run(101, 0);
  fail_for_good(1);
  forget();
  ends_->lose_task(JobId{1}, now());
  EXPECT_EQ(job(1).terminal_outcome, JobOutcome::failed);
  EXPECT_THAT(numbers(effects<StopTask>()), ElementsAre(101));
}

TEST_F(JobEndsTest, AnArrayGoesOnUntilTooManyOfItsTasksHaveFailed) {
  Job job_of_three = array_of(3);
  job_of_three.max_fails = 1;
  accept(std::move(job_of_three));
  run(1, 0);
  run(101, 0);
  fail_for_good(1);
  ends_->lose_task(JobId{1}, now());
  EXPECT_FALSE(job(1).terminal_outcome);
  fail_for_good(101);
  forget();
  ends_->lose_task(JobId{1}, now());
  const std::vector<TellJobOver> over = told();
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].outcome, JobOutcome::failed);
  EXPECT_TRUE(over[0].broken) << "the third has not ended by itself";
}

TEST_F(JobEndsTest, WhatEndsLetsTheNextCappedTaskWaitForAPlace) {
  Job narrow = array_of(3);
  narrow.max_running = 1;
  accept(std::move(narrow));
  ASSERT_EQ(task(101).phase, TaskPhase::capped);
  run(1, 0);
  finish(1);
  ends_->release_capped(JobId{1}, now());
  EXPECT_EQ(task(101).phase, TaskPhase::pending);
  EXPECT_EQ(task(102).phase, TaskPhase::capped);
}

TEST_F(JobEndsTest, AHeldJobReleasesNothing) {
  Job narrow = array_of(2);
  narrow.max_running = 1;
  accept(std::move(narrow));
  run(1, 0);
  finish(1);
  happen(JobHeld{JobId{1}});
  forget();
  ends_->release_capped(JobId{1}, now());
  EXPECT_THAT(recorder_->commit().events, IsEmpty());
}

TEST_F(JobEndsTest, ATaskIsTriedAsOftenAsItsJobOrTheMasterAllows) {
  accept(array_of(1));
  run(1, 0);
  EXPECT_FALSE(ends_->is_last_attempt(job(1).job, failure(1)));
  Job once = job(1).job;
  once.retries = 0;
  EXPECT_TRUE(ends_->is_last_attempt(once, failure(1)));
  fail(1);
  EXPECT_TRUE(ends_->is_last_attempt(job(1).job, failure(1)));
  Job thrice = job(1).job;
  thrice.retries = 2;
  EXPECT_FALSE(ends_->is_last_attempt(thrice, failure(1)));
}

TEST_F(JobEndsTest, WhatIsNobodysFaultDoesNotCountAndWhatCannotStartIsNotTriedAgain) {
  accept(array_of(1));
  run(1, 0);
  fail(1);
  TaskFailed blameless = failure(1);
  blameless.blameless = true;
  EXPECT_FALSE(ends_->is_last_attempt(job(1).job, blameless));
  EXPECT_TRUE(ends_->is_last_attempt(job(1).job, failure(1, FailureKind::cannot_start)));
}

TEST_F(JobEndsTest, ATaskMayBeLostOnlySoOften) {
  accept(array_of(1));
  for (Attempt attempt = 1; attempt <= 2; ++attempt) {
    EXPECT_FALSE(ends_->is_last_attempt(job(1).job, failure(1, FailureKind::lost)));
    assign(1, 0);
    happen(StartIssued{TaskId{1}, InstanceId{0}, attempt, kGrant});
    happen(TaskFailed{TaskId{1}, attempt, "lost", {}, true, FailureKind::lost});
  }
  EXPECT_TRUE(ends_->is_last_attempt(job(1).job, failure(1, FailureKind::lost)));
}

TEST_F(JobEndsTest, TheHistoryTellsWhyARefusedJobNeverRan) {
  make(true);
  accept(array_of(1));
  const Refusal never{RefusalKind::never, RefusalCode::fits_no_type, Resource::cpu, 99, 8};
  tasks_->refuse(TaskId{1}, never, now());
  forget();
  ends_->give_up(JobId{1}, JobOutcome::refused, now());
  const Commit commit = recorder_->commit();
  ASSERT_EQ(commit.over.size(), 1U);
  EXPECT_EQ(commit.over[0].outcome, JobOutcome::refused);
  EXPECT_FALSE(commit.over[0].tasks.at(0).reason.empty());
}

TEST_F(JobEndsTest, WithoutAHistoryNothingIsHandedOut) {
  accept(array_of(1));
  forget();
  ends_->give_up(JobId{1}, JobOutcome::cancelled, now());
  EXPECT_THAT(recorder_->commit().over, IsEmpty());
}

TEST_F(JobEndsTest, OnlyTheFailuresThatAJobNamesAreTriedAgain) {
  Job job = array_of(1);
  job.retries = 3;
  job.retry_on = {"137", "75", "signal"};
  accept(job);
  run(1, 0);
  const auto is_last = [&](FailureKind kind, std::int32_t exit_code) {
    TaskFailed news = failure(1, kind);
    news.end.exit_code = exit_code;
    news.blameless = kind == FailureKind::lost || kind == FailureKind::rejected;
    return ends_->is_last_attempt(job, news);
  };
  EXPECT_FALSE(is_last(FailureKind::exit_code, 75));
  EXPECT_FALSE(is_last(FailureKind::signal, 139));
  EXPECT_FALSE(is_last(FailureKind::out_of_memory, 137)) << "a code is a code";
  EXPECT_TRUE(is_last(FailureKind::exit_code, 2));
  EXPECT_TRUE(is_last(FailureKind::time_limit, 143));
  EXPECT_TRUE(is_last(FailureKind::cannot_start, 126));
  EXPECT_FALSE(is_last(FailureKind::lost, 137)) << "no fault of the program";
  EXPECT_FALSE(is_last(FailureKind::rejected, 0));
  job.retry_on.clear();
  EXPECT_FALSE(is_last(FailureKind::exit_code, 2));
}

class CounterpartsOfAJobTest : public JobEndsTest {
 protected:
  /// Its tasks wait for those of job 12.
  void accept_awaiting(std::size_t tasks, std::uint32_t max_running = 0) {
    Job job = array_of(tasks);
    job.max_running = max_running;
    job.after = {{JobId{12}, AfterEnd::ok, 0, false, true}};
    for (std::uint32_t i = 0; i < tasks; ++i) job.tasks[i].array_index = i;
    accept(std::move(job));
  }
  bool tell(std::vector<IndexRange> met, std::vector<IndexRange> lost = {}) {
    CounterpartsTold told{JobId{1}, std::move(met), {}};
    if (!lost.empty()) told.lost = {{JobId{12}, std::move(lost), "has failed"}};
    CounterpartBudget budget;
    return ends_->hear_counterparts(told, budget, now());
  }
  const TaskRow& task(std::uint64_t id) const { return *state().find(TaskId{id}); }
  const JobRow& job() const { return *state().find(JobId{1}); }
};

TEST_F(CounterpartsOfAJobTest, ATaskWaitsForAPlaceWhenItsCounterpartIsOver) {
  accept_awaiting(3);
  EXPECT_EQ(job().pending, 0U);
  EXPECT_EQ(task(1).reason.code, RefusalCode::awaiting_counterpart);
  EXPECT_FALSE(tell({{1, 1}}));
  EXPECT_EQ(task(101).phase, TaskPhase::pending);
  EXPECT_EQ(job().pending, 1U);
  EXPECT_FALSE(tell({{1, 1}})) << "once more";
  EXPECT_EQ(events<CounterpartOver>().size(), 1U);
  EXPECT_THAT(state().inconsistencies(), IsEmpty());
}

TEST_F(CounterpartsOfAJobTest, ATaskThatCannotBeginHasFailedWithoutAnAttempt) {
  accept_awaiting(2);
  tell({{0, 0}}, {{1, 1}});
  EXPECT_EQ(task(101).phase, TaskPhase::failed);
  const TaskHistory* known = facts().task_history(TaskId{101});
  ASSERT_NE(known, nullptr);
  EXPECT_TRUE(known->failed);
  EXPECT_EQ(known->attempts, 0U);
  EXPECT_EQ(known->reason, "its counterpart, task 1 of job 12, has failed");
  run(1, 0);
  finish(1);
  end_if_done();
  const std::vector<TellJobOver> over = told();
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].outcome, JobOutcome::failed);
  EXPECT_FALSE(over[0].broken) << "each task has come to an end";
}

TEST_F(CounterpartsOfAJobTest, TheLastLostTaskEndsTheJob) {
  accept_awaiting(2);
  EXPECT_FALSE(tell({}, {{0, UINT32_MAX}}));
  EXPECT_EQ(state().find(JobId{1}), nullptr);
  EXPECT_THAT(facts().awaiting, IsEmpty());
  EXPECT_FALSE(tell({{0, 0}})) << "it is over";
}

TEST_F(CounterpartsOfAJobTest, NoMoreMayHaveAPlaceAtOnceThanTheJobAllows) {
  accept_awaiting(3, 1);
  tell({{1, 2}});
  EXPECT_EQ(task(101).phase, TaskPhase::pending);
  EXPECT_EQ(task(102).reason.code, RefusalCode::in_flight_cap);
  run(101, 0);
  finish(101);
  ends_->release_capped(JobId{1}, now());
  EXPECT_EQ(task(102).phase, TaskPhase::pending);
  EXPECT_EQ(task(1).phase, TaskPhase::capped) << "its counterpart is not over";
}

TEST_F(CounterpartsOfAJobTest, AHeldJobsTasksAreReleasedWithItAlone) {
  accept_awaiting(2);
  happen(JobHeld{JobId{1}});
  tell({{0, 0}});
  EXPECT_EQ(task(1).phase, TaskPhase::held);
  happen(JobReleased{JobId{1}});
  EXPECT_EQ(task(1).phase, TaskPhase::pending);
  EXPECT_EQ(task(101).reason.code, RefusalCode::awaiting_counterpart);
}

TEST_F(CounterpartsOfAJobTest, HearsOfSomeHundredAtOnce) {
  accept_awaiting(700);
  EXPECT_TRUE(tell({{0, 699}}));
  EXPECT_EQ(job().pending, 500U);
  EXPECT_FALSE(tell({{0, 699}}));
  EXPECT_EQ(job().pending, 700U);
}

}  // namespace
}  // namespace muster

// What becomes of the tasks of one job when some of them fail.

#include <gtest/gtest.h>

#include "masters/master.hpp"
#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using test::MasterTest;

class ArrayTest : public MasterTest {
 protected:
  /// A job of four tasks, all of which run; the task at a position is 100 and the position.
  void four_running(std::optional<std::uint32_t> max_fails = {}, bool gang = false) {
    Job job = JobBuilder(1).tasks(4).gang(gang).build();
    job.retries = 0;
    job.max_fails = max_fails;
    for (std::uint32_t i = 0; i < 4; ++i) job.tasks[i].array_index = i;
    tasks_ = {1, 101, 102, 103};
    ASSERT_EQ(master_->submit(job, now()), SubmitResult::accepted);
    round(together(tasks_));
    boot(0);
    for (std::uint64_t task : tasks_) started(task, 1);
    commit();
  }
  void fails(std::size_t position, std::int32_t exit_code,
             FailureKind kind = FailureKind::exit_code) {
    const bool blameless = kind == FailureKind::lost;
    const Attempt attempt = master_->state().find(TaskId{tasks_[position]})->attempt;
    master_->task_failed(
        {TaskId{tasks_[position]}, attempt, "it broke", {exit_code, {}, {}}, blameless, kind},
        now());
  }
  void finishes(std::size_t position) {
    master_->task_finished({TaskId{tasks_[position]}, 1}, now());
  }
  TaskPhase phase(std::size_t position) {
    return master_->state().find(TaskId{tasks_[position]})->phase;
  }
  /// Starts a task again that waits.
  void starts_again(std::size_t position) {
    Plan again;
    again.places.push_back({TaskId{tasks_[position]}, InstanceId{0}, {}});
    round(again);
    started(tasks_[position], master_->state().find(TaskId{tasks_[position]})->attempt);
  }
  static JobOutcome outcome(const std::vector<Effect>& effects) {
    for (const Effect& effect : effects) {
      if (const auto* told = std::get_if<TellJobOver>(&effect)) return told->outcome;
    }
    ADD_FAILURE() << "no job is over";
    return {};
  }

  std::vector<std::uint64_t> tasks_;
};

TEST_F(ArrayTest, OneThatFailsLeavesTheOthersAloneAndTheJobHasFailedWithTheLast) {
  four_running();
  fails(2, 3);
  EXPECT_EQ(count<StopTask>(commit()), 0u);
  EXPECT_EQ(phase(2), TaskPhase::failed);
  EXPECT_EQ(master_->state().inconsistencies(), std::vector<std::string>{});
  finishes(0);
  finishes(1);
  EXPECT_EQ(count<TellJobOver>(commit()), 0u);
  finishes(3);
  const std::vector<Effect> effects = commit();
  EXPECT_EQ(outcome(effects), JobOutcome::failed);
  for (const Effect& effect : effects) {
    const auto* told = std::get_if<TellJobOver>(&effect);
    EXPECT_TRUE(told == nullptr || !told->broken) << "other parts of it go on";
  }
}

TEST_F(ArrayTest, TheTasksOfAGangEndTogether) {
  four_running({}, true);
  fails(2, 3);
  EXPECT_EQ(count<StopTask>(commit()), 3u);
  EXPECT_EQ(phase(2), TaskPhase::failed);
  for (std::size_t i : {0, 1, 3})
    master_->task_checkpointed({TaskId{tasks_[i]}, 1, {}, {143, {}, {}}}, now());
  EXPECT_EQ(outcome(commit()), JobOutcome::failed);
}

TEST_F(ArrayTest, WithOneFailureMoreThanItMayHaveTheRestIsEnded) {
  four_running(1);
  fails(0, 1);
  EXPECT_EQ(count<StopTask>(commit()), 0u);
  fails(3, 1);
  EXPECT_EQ(count<StopTask>(commit()), 2u);
  master_->task_checkpointed({TaskId{101}, 1, {}, {143, {}, {}}}, now());
  master_->task_checkpointed({TaskId{102}, 1, {}, {143, {}, {}}}, now());
  EXPECT_EQ(outcome(commit()), JobOutcome::failed);
}

TEST_F(ArrayTest, ACommandThatCannotStartIsNotTriedAgain) {
  Job job = JobBuilder(2).gang(false).build();
  job.retries = 9;
  master_->submit(job, now());
  round(together({2}));
  boot(0);
  master_->task_failed(
      {TaskId{2}, 1, "no such file", {126, {}, {}}, false, FailureKind::cannot_start}, now());
  EXPECT_EQ(outcome(commit()), JobOutcome::failed);
}

TEST_F(ArrayTest, WhatItsWorkerLosesIsTriedAgainWithoutBlameButNotForEver) {
  four_running();
  for (std::uint32_t i = 1; i < 20; ++i) {
    fails(1, 137, FailureKind::lost);
    ASSERT_EQ(phase(1), TaskPhase::pending) << i;
    starts_again(1);
  }
  fails(1, 137, FailureKind::lost);
  EXPECT_EQ(phase(1), TaskPhase::failed);
  EXPECT_EQ(phase(0), TaskPhase::running);
}

TEST_F(ArrayTest, AFailureMakesRoomForATaskThatIsCapped) {
  Job job = JobBuilder(1).tasks(3).gang(false).build();
  job.retries = 0;
  job.max_running = 1;
  master_->submit(job, now());
  round(together({1}));
  boot(0);
  started(1, 1);
  ASSERT_EQ(master_->state().find(TaskId{101})->phase, TaskPhase::capped);
  master_->task_failed({TaskId{1}, 1, "it broke"}, now());
  EXPECT_EQ(master_->state().find(TaskId{101})->phase, TaskPhase::pending);
  EXPECT_EQ(master_->state().find(TaskId{102})->phase, TaskPhase::capped);
}

TEST_F(ArrayTest, ACappedTaskIsHeldWhileItsUserHoldsTheJobAndCappedAgainAfterwards) {
  Job job = JobBuilder(1).tasks(3).gang(false).build();
  job.max_running = 1;
  master_->submit(job, now());
  const auto phases = [this] {
    std::vector<TaskPhase> found;
    for (std::uint64_t id : {1, 101, 102}) {
      found.push_back(master_->state().find(TaskId{id})->phase);
    }
    return found;
  };
  const std::vector<TaskPhase> capped{TaskPhase::pending, TaskPhase::capped, TaskPhase::capped};
  EXPECT_EQ(phases(), capped);
  master_->hold(JobId{1}, true, now());
  EXPECT_EQ(phases(), std::vector<TaskPhase>(3, TaskPhase::held));
  EXPECT_EQ(master_->state().find(JobId{1})->capped, 0u);
  master_->hold(JobId{1}, false, now());
  EXPECT_EQ(phases(), capped);
}

TEST_F(ArrayTest, OfAPartItIsSaidHowManyTasksHaveFailedWhereOnlySoManyMay) {
  Job part = JobBuilder(1).tasks(2).gang(false).build();
  part.retries = 0;
  part.total_tasks = 4;
  part.max_fails = 2;
  master_->submit(part, now());
  round(together({1, 101}));
  boot(0);
  started(1, 1);
  started(101, 1);
  EXPECT_EQ(master_->facts().counted.size(), 1u) << "sites have to know that they are to ask often";
  EXPECT_TRUE(master_->facts().failing_parts().empty());
  master_->task_failed({TaskId{1}, 1, "it broke"}, now());
  EXPECT_EQ(master_->facts().failing_parts(), (std::vector<FailedPart>{{JobId{1}, 1, 2}}));
  master_->task_failed({TaskId{101}, 1, "it broke"}, now());
  ASSERT_EQ(master_->facts().failed_parts.size(), 1u) << "also when it is over";
  EXPECT_EQ(master_->facts().failed_parts.front(), (FailedPart{JobId{1}, 2, 2}));
  EXPECT_TRUE(master_->facts().terminal_parts.empty())
      << "all of its tasks have ended by themselves";
}

TEST_F(ArrayTest, WhatHasFailedOfAnUnfinishedPartIsNeverForgotten) {
  Job part = JobBuilder(1).tasks(2).gang(false).build();
  part.retries = 0;
  part.total_tasks = 4;
  part.max_fails = 2;
  master_->submit(part, now());
  round(together({1, 101}));
  boot(0);
  started(1, 1);
  master_->task_failed({TaskId{1}, 1, "it broke"}, now());
  for (std::uint64_t job = 1000; job < 2100; ++job) {
    Job other = JobBuilder(job).build();
    other.total_tasks = 4;
    other.max_fails = 2;
    master_->submit(other, now());
  }
  const std::vector<FailedPart> failing{{JobId{1}, 1, 2}};
  EXPECT_EQ(master_->facts().failing_parts(), failing);
  MasterSnapshot snapshot = master_->snapshot();
  snapshot.failed_parts.push_back({JobId{1}, 1, 2});  // as earlier versions kept them
  make_master({});
  master_->restore(std::move(snapshot), {});
  EXPECT_EQ(master_->facts().failing_parts(), failing);
  EXPECT_EQ(master_->facts().counted.size(), 1101u);
  EXPECT_TRUE(master_->facts().failed_parts.empty());
}

}  // namespace
}  // namespace muster

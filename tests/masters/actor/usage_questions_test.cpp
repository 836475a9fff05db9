// Running tasks and what they take, by the word of their workers.

#include <optional>

#include "tests/masters/actor/master_actor_fixture.hpp"

namespace muster {
namespace {

using std::chrono::seconds;

class UsageQuestionsTest : public test::MasterActorTest {
 protected:
  void ask(const UsageQuestion& wanted = {}) {
    system_.actors().spawn([=, this](caf::event_based_actor* self) {
      self->request(master_, caf::infinite, wanted)
          .then([this](const UsageView& view) { views_.push_back(view); },
                [this](const caf::error&) { ++refused_; });
    });
    system_.time().drain();
  }
  void answer(const AttemptUsage& usage, InstanceId on = InstanceId{0}) {
    ASSERT_FALSE(asked_usage_.empty());
    caf::anon_send(master_, UsageAnswer{on, asked_usage_.back().number, {usage}});
    system_.time().drain();
  }
  static AttemptUsage usage_of(std::uint64_t task, Attempt attempt = 1) {
    AttemptUsage usage{TaskId{task}, attempt, {seconds{7}, std::uint64_t{300} << 20}};
    usage.memory_bytes = std::uint64_t{200} << 20;
    usage.cores = 0.5;
    return usage;
  }

  std::vector<UsageView> views_;
  int refused_ = 0;
};

TEST_F(UsageQuestionsTest, ATaskThatRunsIsShownWithTheWordOfItsWorker) {
  run_one();
  ask();
  EXPECT_TRUE(views_.empty()) << "its worker has not answered";
  answer(usage_of(1));
  ASSERT_EQ(views_.size(), 1u);
  ASSERT_EQ(views_[0].tasks.size(), 1u);
  const TaskUsageView& task = views_[0].tasks[0];
  EXPECT_EQ(task.job, JobId{1});
  EXPECT_EQ(task.attempt, 1u);
  EXPECT_EQ(task.instance, InstanceId{0});
  EXPECT_EQ(task.cores, 0.5);
  EXPECT_EQ(task.cpu_s, 7);
  EXPECT_EQ(task.memory_mib, 200);
  EXPECT_EQ(task.peak_mib, 300);
  EXPECT_EQ(task.disk_mib, std::nullopt);
  EXPECT_GE(task.running_s.value_or(-1), 0);
  EXPECT_FALSE(views_[0].place);
}

TEST_F(UsageQuestionsTest, ASilentWorkerLeavesItsTasksWithoutFigures) {
  run_one();
  ask();
  system_.run_until_s(110);
  ASSERT_EQ(views_.size(), 1u);
  ASSERT_EQ(views_[0].tasks.size(), 1u);
  EXPECT_FALSE(views_[0].tasks[0].cores);
  EXPECT_FALSE(views_[0].tasks[0].memory_mib);
  answer(usage_of(1));
  EXPECT_EQ(views_.size(), 1u) << "the answer comes too late";
}

TEST_F(UsageQuestionsTest, AWorkerSpeaksOfItsOwnInstanceAndOfThePresentAttemptAlone) {
  run_one();
  ask();
  answer(usage_of(1), InstanceId{9});
  EXPECT_TRUE(views_.empty());
  answer(usage_of(1, 7));
  ASSERT_EQ(views_.size(), 1u);
  EXPECT_FALSE(views_[0].tasks[0].cores);
}

TEST_F(UsageQuestionsTest, OnlyTasksThatAreWantedAndRunAreShown) {
  ask();
  ASSERT_EQ(views_.size(), 1u);
  EXPECT_TRUE(views_[0].tasks.empty()) << "nothing runs";
  run_one();
  views_.clear();
  UsageQuestion wanted;
  wanted.user = "nobody";
  ask(wanted);
  wanted = {};
  wanted.job = JobId{2};
  ask(wanted);
  wanted.job = JobId{1};
  wanted.index = 77;
  ask(wanted);
  ASSERT_EQ(views_.size(), 3u);
  for (const UsageView& view : views_) EXPECT_TRUE(view.tasks.empty());
  EXPECT_TRUE(asked_usage_.empty()) << "no worker is asked for nothing";
  wanted.index = 0;
  ask(wanted);
  answer(usage_of(1));
  EXPECT_EQ(views_.back().tasks.size(), 1u);
}

TEST_F(UsageQuestionsTest, AWorkerIsAskedOnceForAllWhoAskTogether) {
  run_one();
  ask();
  ask();
  EXPECT_EQ(asked_usage_.size(), 1u);
  answer(usage_of(1));
  EXPECT_EQ(views_.size(), 2u);
  ask();
  ASSERT_EQ(views_.size(), 3u) << "its answer is young";
  EXPECT_EQ(views_[2].tasks.at(0).cores, 0.5);
  system_.run_until_s(110);
  ask();
  EXPECT_EQ(asked_usage_.size(), 2u);
}

TEST_F(UsageQuestionsTest, AWorkerThatDoesNotAnswerIsAskedAnewThoughSomebodyAlwaysWaits) {
  run_one();
  ask();
  system_.run_until_s(101);
  ask();
  EXPECT_EQ(asked_usage_.size(), 1u);
  system_.run_until_s(102);
  ASSERT_EQ(views_.size(), 1u) << "the second one waits still";
  ask();
  EXPECT_EQ(asked_usage_.size(), 2u);
  answer(usage_of(1));
  ASSERT_EQ(views_.size(), 3u);
  EXPECT_EQ(views_[1].tasks.at(0).cores, 0.5);
  EXPECT_EQ(views_[2].tasks.at(0).cores, 0.5);
}

TEST_F(UsageQuestionsTest, AUserHasAPartOfThePages) {
  run_one();
  UsageQuestion wanted;
  wanted.user = "ann";
  for (std::size_t i = 0; i <= UsageQuestions::kMostOfUser; ++i) ask(wanted);
  EXPECT_EQ(refused_, 1);
  ask();
  EXPECT_EQ(refused_, 1) << "others have theirs";
}

TEST_F(UsageQuestionsTest, MoreQuestionsThanMayWaitAreRefused) {
  run_one();
  for (std::size_t i = 0; i < UsageQuestions::kMost; ++i) ask();
  EXPECT_EQ(refused_, 0);
  ask();
  EXPECT_EQ(refused_, 1);
  system_.run_until_s(110);
  EXPECT_EQ(views_.size(), UsageQuestions::kMost);
}

TEST_F(UsageQuestionsTest, AnEndThatIsMeasuredIsOnRecordAndShown) {
  run_one();
  WorkerReport report;
  report.instance = InstanceId{0};
  report.task = TaskId{1};
  report.attempt = 1;
  report.kind = WorkerReportKind::finished;
  report.used = {seconds{7}, std::uint64_t{300} << 20};
  caf::anon_send(master_, report);
  system_.time().drain();
  ASSERT_EQ(all<TaskFinished>().size(), 1u);
  EXPECT_EQ(all<TaskFinished>()[0].end.used(), report.used);
  ASSERT_EQ(history_.jobs.size(), 1u);
  EXPECT_EQ(history_.jobs.begin()->tasks.at(0).used, report.used);
  EXPECT_EQ(history_.jobs.begin()->tasks.at(0).newest.used, report.used);
}

}  // namespace
}  // namespace muster

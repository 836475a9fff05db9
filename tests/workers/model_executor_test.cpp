#include "workers/model_executor.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;

/// A model in which nothing ends by itself; the test says when a task is done.
class HandModel : public ExecutionModel {
 public:
  Instant instant(Instant now) const override { return floor_to(now, std::chrono::seconds{1}); }
  void load(const LoadedTask& task) override {
    together = task.together;
    loaded[task.task] = task.caller;
  }
  std::optional<ExecutionProgress> progress(TaskId) const override {
    return done ? std::optional(ExecutionProgress{*done, {}}) : std::nullopt;
  }
  void unload(TaskId task) override { loaded.erase(task); }
  void lose(TaskId task) override {
    loaded.erase(task);
    lost.push_back(task);
  }
  double throughput(TaskId) const override { return 0.75; }
  std::optional<ReplicaWord> replica(TaskId) const override { return word; }

  std::map<TaskId, LoadCaller> loaded;
  std::vector<TaskId> lost;
  std::uint32_t together = 0;
  std::optional<ReplicaWord> word;  ///< of replicas; nothing: there is no replica
  std::optional<double> done;
};

class ModelExecutorTest : public ::testing::Test, public WorkerCalls {
 protected:
  ModelExecutorTest()
      : executor_(std::make_unique<ModelExecutor>(InstanceId{0}, TypeId{0}, *this, model_)) {}

  Instant now() const override { return now_; }
  void at(Instant when, std::function<void()> step) override {
    steps_.emplace(when, std::move(step));
  }
  void post(std::function<void()> step) override { step(); }
  std::function<void(std::function<void()>)> poster() override { return {}; }
  void started(TaskId task, Attempt, Duration, Duration) override { note("started", task); }
  void checkpointed(TaskId task, Attempt, Duration, ExecutionEnd) override { note("left", task); }
  void finished(TaskId task, Attempt, ExecutionEnd) override { note("finished", task); }
  void failed(TaskId task, Attempt, std::string, ExecutionEnd) override { note("failed", task); }
  void rejected(TaskId task, Attempt, std::string) override { note("rejected", task); }
  void progressed(TaskId task, Attempt) override { note("progressed", task); }
  void reported(std::vector<AttemptMetrics> said) override {
    for (AttemptMetrics& each : said) reports_.push_back(std::move(each));
  }

  void filled(std::vector<FilledLog>) override {}

  void note(const std::string& what, TaskId task) {
    news_.push_back(std::to_string(static_cast<int>(to_seconds(now_))) + " " + what + " " +
                    std::to_string(task.value));
  }
  void run_until(double seconds) {
    while (!steps_.empty() && steps_.begin()->first <= at_s(seconds)) {
      auto step = steps_.extract(steps_.begin());
      now_ = step.key();
      step.mapped()();
    }
    now_ = at_s(seconds);
  }
  static TaskOrder execution(std::uint64_t task, Attempt attempt = 1) {
    const auto s = [](int n) { return std::chrono::seconds{n}; };
    TaskOrder e;
    e.task.id = TaskId{task};
    e.task.image = "img";
    e.task.delays = {.fetch = s(5), .build = s(10), .init = s(60), .stop = s(1), .upload = s(7)};
    e.attempt = attempt;
    return e;
  }

  std::vector<AttemptMetrics> reports_;
  Instant now_;
  std::multimap<Instant, std::function<void()>> steps_;
  std::vector<std::string> news_;
  HandModel model_;
  std::unique_ptr<ModelExecutor> executor_;
};

TEST_F(ModelExecutorTest, FetchesAndBuildsBeforeATaskStarts) {
  executor_->start(execution(1));
  run_until(100);
  EXPECT_EQ(news_, (std::vector<std::string>{"15 started 1"}));
}

TEST_F(ModelExecutorTest, BuildsAnImageOnceTheInstanceHasReceivedIt) {
  executor_->start(execution(1));
  run_until(20);
  executor_->start(execution(2));
  run_until(100);
  EXPECT_EQ(news_, (std::vector<std::string>{"15 started 1", "25 started 2"}));
}

TEST_F(ModelExecutorTest, TwoLoadsAtOnceBothBuild) {
  executor_->start(execution(1));
  run_until(4);
  executor_->start(execution(2));
  run_until(100);
  EXPECT_EQ(news_, (std::vector<std::string>{"15 started 1", "19 started 2"}));
}

TEST_F(ModelExecutorTest, AStoppedTaskRunsOnForTheStopDelayAndThenUploads) {
  executor_->start(execution(1));
  run_until(50);
  executor_->stop(TaskId{1}, 1);
  run_until(50.5);
  EXPECT_EQ(model_.loaded.size(), 1u);
  run_until(51);
  EXPECT_TRUE(model_.loaded.empty());
  run_until(100);
  EXPECT_EQ(news_.back(), "58 left 1");
}

TEST_F(ModelExecutorTest, WorkThatEndsDuringTheStopIsFinishedAndDoesNotLeave) {
  executor_->start(execution(1));
  run_until(50);
  executor_->stop(TaskId{1}, 1);
  model_.loaded.at(TaskId{1}).tell_done();
  run_until(100);
  EXPECT_EQ(news_, (std::vector<std::string>{"15 started 1", "50 finished 1"}));
}

TEST_F(ModelExecutorTest, AStopWhileLoadingSavesNothing) {
  executor_->start(execution(1));
  run_until(3);
  executor_->stop(TaskId{1}, 1);
  run_until(100);
  EXPECT_EQ(news_, (std::vector<std::string>{"3 left 1"}));
}

TEST_F(ModelExecutorTest, StopsOfAnotherAttemptChangeNothing) {
  executor_->start(execution(1, 2));
  run_until(50);
  executor_->stop(TaskId{1}, 1);
  run_until(100);
  EXPECT_EQ(news_, (std::vector<std::string>{"15 started 1"}));
}

TEST_F(ModelExecutorTest, SamplesWhatHasStarted) {
  executor_->start(execution(1));
  EXPECT_TRUE(executor_->sample().empty());
  run_until(20);
  ASSERT_EQ(executor_->sample().size(), 1u);
  EXPECT_EQ(executor_->sample().front().normalized, 0.75);
}

TEST_F(ModelExecutorTest, SaysHowFarAJobIsAndWhenItsPaceChanges) {
  TaskOrder wide = execution(1);
  wide.task_count = 3;
  executor_->start(wide);
  run_until(20);
  EXPECT_EQ(model_.together, 3u);
  model_.done = 40;
  ASSERT_TRUE(executor_->sample().front().progress);
  EXPECT_EQ(executor_->sample().front().progress->done, 40);
  model_.loaded.at(TaskId{1}).tell_change();
  EXPECT_EQ(news_.back(), "20 progressed 1");
}

TEST_F(ModelExecutorTest, ReportsHowAReplicaDoesWhenThatChanges) {
  executor_->start(execution(1, 4));
  run_until(20);
  EXPECT_TRUE(reports_.empty());
  model_.word = ReplicaWord{true, 0.5};
  model_.loaded.at(TaskId{1}).tell_change();
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].said.task, TaskId{1});
  EXPECT_EQ(reports_[0].attempt, 4u);
  EXPECT_EQ(reports_[0].said.values, (Metrics{{"performance", 0.5}}));
  ASSERT_TRUE(reports_[0].replica);
  EXPECT_TRUE(reports_[0].replica->ready);
  model_.word = ReplicaWord{true, {}};
  model_.loaded.at(TaskId{1}).tell_change();
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_TRUE(reports_[1].said.values.empty());
  EXPECT_EQ(news_.back(), "15 started 1");
}

TEST_F(ModelExecutorTest, TheEndOfTheInstanceTakesItsTasksOutOfTheWorld) {
  executor_->start(execution(1));
  run_until(20);
  executor_.reset();
  EXPECT_TRUE(model_.loaded.empty());
  EXPECT_EQ(model_.lost, std::vector{TaskId{1}});
}

}  // namespace
}  // namespace muster

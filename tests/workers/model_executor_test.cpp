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
  void load(LoadedTask task) override {
    together = task.together;
    change = std::move(task.on_change);
    loaded[task.task] = std::move(task.on_done);
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

  std::map<TaskId, std::function<void()>> loaded;
  std::vector<TaskId> lost;
  std::uint32_t together = 0;
  std::function<void()> change;
  std::optional<double> done;
};

class ModelExecutorTest : public ::testing::Test {
 protected:
  ModelExecutorTest() {
    ExecutorHost host;
    host.now = [this] { return now_; };
    host.at = [this](Instant when, std::function<void()> step) {
      steps_.emplace(when, std::move(step));
    };
    host.post = [](const std::function<void()>& step) { step(); };
    host.started = [this](TaskId task, Attempt, Duration, Duration) { note("started", task); };
    host.checkpointed = [this](TaskId task, Attempt, Duration, const ExecutionEnd&) {
      note("left", task);
    };
    host.finished = [this](TaskId task, Attempt, const ExecutionEnd&) { note("finished", task); };
    host.failed = [this](TaskId task, Attempt, const std::string&, const ExecutionEnd&) {
      note("failed", task);
    };
    host.progressed = [this](TaskId task, Attempt) { note("progressed", task); };
    executor_ = std::make_unique<ModelExecutor>(InstanceId{0}, TypeId{0}, host, model_);
  }

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
  static Execution execution(std::uint64_t task, Attempt attempt = 1) {
    const auto s = [](int n) { return std::chrono::seconds{n}; };
    Execution e;
    e.task.id = TaskId{task};
    e.task.image = "img";
    e.task.delays = {.fetch = s(5), .build = s(10), .init = s(60), .stop = s(1), .upload = s(7)};
    e.attempt = attempt;
    return e;
  }

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
  model_.loaded.at(TaskId{1})();
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
  Execution wide = execution(1);
  wide.task_count = 3;
  executor_->start(wide);
  run_until(20);
  EXPECT_EQ(model_.together, 3u);
  model_.done = 40;
  ASSERT_TRUE(executor_->sample().front().progress);
  EXPECT_EQ(executor_->sample().front().progress->done, 40);
  model_.change();
  EXPECT_EQ(news_.back(), "20 progressed 1");
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

#include "workers/worker_duties.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster {
namespace {

using testing::ElementsAre;

std::string text_of(const WorkerReport& report) {
  switch (report.kind) {
    case WorkerReportKind::accepted:
      return "accepted";
    case WorkerReportKind::started:
      return "started";
    case WorkerReportKind::finished:
      return "finished";
    default:
      return "another end";
  }
}

/// Writes down what is said, in its order.
class NotedPort final : public WorkerPort {
 public:
  Instant now() const override { return {}; }
  void at(Instant, std::function<void()>) override {}
  std::function<void(std::function<void()>)> poster() override {
    return [](const std::function<void()>&) {};
  }
  void post(std::function<void()>) override {}
  void say(WorkerHello hello) override {
    std::string text = "hello:";
    for (const WorkerReport& report : hello.known) text += " " + text_of(report);
    said.push_back(std::move(text));
  }
  void say(WorkerReport report) override { said.push_back(text_of(report)); }
  void say(SampleAnswer) override {}
  void say(LogAnswer) override {}
  void say(MetricsReport report) override {
    for (const AttemptMetrics& each : report.attempts) {
      said.push_back("values of " + std::to_string(each.said.task.value));
    }
  }
  void say(FilledLogs filled) override {
    for (const FilledLog& each : filled.logs) {
      said.push_back("full files of " + std::to_string(each.task.value));
    }
  }
  void say(ExecAnswer answer) override {
    said.push_back("answer " + std::to_string(answer.number) + ": " + answer.reason);
  }
  void say(UsageAnswer answer) override {
    said.push_back("usage " + std::to_string(answer.number) + " of " +
                   std::to_string(answer.attempts.size()));
  }
  void end() override {}

  std::vector<std::string> said;
};

/// Ends at once what it starts; tasks of odd numbers have reported values.
class InstantExecutor final : public Executor {
 public:
  explicit InstantExecutor(WorkerCalls& worker) : worker_(worker) {}
  void start(const TaskOrder& order) override {
    const TaskId task = order.task.id;
    worker_.started(task, order.attempt, {}, {});
    if (task.value % 2 == 1) kept_.emplace(task, order.attempt);
    worker_.finished(task, order.attempt, {});
  }
  void stop(TaskId, Attempt) override {}
  std::vector<ExecutionSample> sample() override { return {}; }
  void repeat_reports() override {
    for (const auto& [task, attempt] : kept_) worker_.reported({{{task, {{"a", 1}}}, attempt}});
  }
  bool repeats(TaskId task, Attempt attempt) const override {
    return kept_.contains({task, attempt});
  }
  void acknowledged(TaskId task, Attempt attempt) override { kept_.erase({task, attempt}); }

 private:
  WorkerCalls& worker_;
  std::set<std::pair<TaskId, Attempt>> kept_;
};

TEST(WorkerDuties, SaysTheLastValuesOfAnAttemptBeforeItsEndUntilThatIsSettled) {
  NotedPort port;
  WorkerSetup setup;
  setup.capacity = Resources::of(0, 4, 16);
  setup.make_executor = [](InstanceId, TypeId, WorkerCalls& worker) {
    return std::make_unique<InstantExecutor>(worker);
  };
  WorkerDuties duties(setup, port);
  for (std::uint64_t id : {1, 2}) {
    TaskOrder order;
    order.task.id = TaskId{id};
    order.attempt = 1;
    order.granted = Resources::of(0, 1, 1);
    duties.start(order);
  }
  port.said.clear();
  duties.greet();
  EXPECT_THAT(port.said, ElementsAre("hello: started finished", "values of 1", "finished"));
  duties.acknowledge(TaskId{1}, 1);
  port.said.clear();
  duties.greet();
  EXPECT_THAT(port.said, ElementsAre("hello: finished"));
  duties.end();
}

}  // namespace
}  // namespace muster

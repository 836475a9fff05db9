#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "tests/support/golden.hpp"
#include "tests/support/places.hpp"
#include "tests/support/process_host.hpp"
#include "workers/process/progress.hpp"

namespace muster {
namespace {

using process::AloneRates;
using process::boot_time;
using process::progress_from;
using process::ProgressMeter;
using process::step_from;
using test::IsGolden;
using test::ProcessHost;
using test::script;
using testing::AllOf;
using testing::StartsWith;

Duration at(double seconds) {
  return from_seconds(seconds);
}

TEST(ProgressMeter, TellsNothingBeforeTwoPoints) {
  ProgressMeter meter;
  EXPECT_FALSE(meter.rate(at(5), at(0)));
  meter.add({at(1), 1000});
  EXPECT_FALSE(meter.rate(at(5), at(0)));
}

TEST(ProgressMeter, TheRateIsThatOfTheReportedPoints) {
  ProgressMeter meter;
  meter.add({at(1), 1000});
  meter.add({at(2), 1010});
  meter.add({at(3), 1030});
  EXPECT_DOUBLE_EQ(meter.rate(at(3.5), at(0)).value(), 15);
}

TEST(ProgressMeter, OnlyPointsSinceTheGivenTimeCountWhenThereAreTwo) {
  ProgressMeter meter;
  meter.add({at(1), 0});
  meter.add({at(2), 100});
  meter.add({at(3), 110});
  EXPECT_DOUBLE_EQ(meter.rate(at(3), at(1.5)).value(), 10);
  EXPECT_DOUBLE_EQ(meter.rate(at(3), at(2.5)).value(), 10);
}

TEST(ProgressMeter, SilenceLowersTheRate) {
  ProgressMeter meter;
  meter.add({at(0), 0});
  meter.add({at(1), 10});
  EXPECT_DOUBLE_EQ(meter.rate(at(3), at(0)).value(), 10);
  EXPECT_DOUBLE_EQ(meter.rate(at(10), at(0)).value(), 1);
}

TEST(ProgressMeter, HoldsABoundedNumberOfRecentPoints) {
  ProgressMeter meter;
  for (int i = 0; i < 1000; ++i) meter.add({at(i * 0.1), static_cast<double>(i)});
  EXPECT_EQ(meter.points().size(), ProgressMeter::kMaxPoints);
  for (int i = 0; i < 5; ++i) meter.add({at(1000 + 100 * i), 1000.0 + i});
  EXPECT_EQ(meter.points().size(), 2u);
}

TEST(Progress, OnlyTheDocumentedLineIsTaken) {
  EXPECT_EQ(progress_from("progress 12"), 12.0);
  EXPECT_EQ(progress_from("progress 0.25"), 0.25);
  for (const char* line :
       {"", "progress", "progress ", "progress -1", "progress 1 ", "progress nan", "progress inf",
        "progress 1e300", "Progress 1", "progress  1", "progress 0x10", "stop"}) {
    EXPECT_FALSE(progress_from(line)) << line;
  }
}

TEST(Steps, OnlyOnesThatCanHaveBeenMadeAreTaken) {
  EXPECT_EQ(step_from("step 32 1 0.5 0.25 2 30.5"),
            (TrainingSample{0, 1, 32, 1, 0.5, 0.25, 2, 30.5}));
  for (const char* line :
       {"step", "step 32 1 0.5 0.25 2", "step 32 1 0.5 0.25 2 3 4", "step 0 1 0.5 0.25 2 3",
        "step 1.5 1 0.5 0.25 2 3", "step 32 -1 0.5 0.25 2 3", "step 32 1 0.5 0.5 2 3",
        "step 32 1 nan 0.25 2 3", "step 32 1 0.5 0.25 2 1e16", "step 16777217 1 0.5 0.25 2 3",
        "step 32  1 0.5 0.25 2 3", "step 32 1 0.5 0.25 2 3 "}) {
    EXPECT_FALSE(step_from(line)) << line;
  }
}

TEST(Metrics, OnlyTheDocumentedLineIsTaken) {
  const auto said = process::metric_from("metric p99_ms -12.5");
  EXPECT_EQ(said.problem, "");
  EXPECT_EQ(said.name, "p99_ms");
  EXPECT_EQ(said.value, -12.5);
  for (const char* line :
       {"", "metric", "metric ", "metric a", "metric  1", "metric a  1", "metric a 1 ",
        "metric a inf", "metric a 0x10", "Metric a 1", "metrics a 1", "metric a_ 1 2"}) {
    EXPECT_NE(process::metric_from(line).problem, "") << line;
  }
}

TEST(AloneRates, TheBestRateSurvivesARestart) {
  const test::TempFile files("kept", "");
  AloneRates(files.folder()).record("a", 5);
  AloneRates rates(files.folder());
  rates.record("a", 4);
  rates.record("b", 0);
  EXPECT_EQ(rates.best("a"), 5.0);
  EXPECT_FALSE(rates.best("b"));
  EXPECT_EQ(AloneRates(files.folder()).best("a"), 5.0);
}

TEST(AloneRates, ADamagedFileCountsAsEmpty) {
  const test::TempFile files("alone_rates", "{\"a\": ");
  EXPECT_FALSE(AloneRates(files.folder()).best("a"));
}

TEST(AloneRates, TheNumberOfClassesIsBounded) {
  const test::TempFile files("kept", "");
  AloneRates rates(files.folder());
  for (std::size_t i = 0; i <= AloneRates::kMaxClasses; ++i) rates.record(std::to_string(i), 1);
  EXPECT_TRUE(rates.best(std::to_string(AloneRates::kMaxClasses - 1)));
  EXPECT_FALSE(rates.best(std::to_string(AloneRates::kMaxClasses)));
}

/// A connection to a task's progress socket.
class Reporter {
 public:
  explicit Reporter(const std::string& name)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.c_str(), name.size());
    auto size = static_cast<socklen_t>(sizeof address);
    if (name[0] == '@') {
      address.sun_path[0] = '\0';
      size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    }
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  }
  void say(const std::string& text) {
    (void)!send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  /// What comes until a line is whole; what there was when the connection ended.
  std::string hear() {
    std::string line;
    char c = 0;
    while (recv(socket_.get(), &c, 1, 0) == 1) {
      line += c;
      if (c == '\n') break;
    }
    return line;
  }
  std::string ask(const std::string& text) {
    say(text);
    return hear();
  }

 private:
  process::Descriptor socket_;
};

class ProcessProgressTest : public ::testing::Test {
 protected:
  /// Starts an attempt that waits to be ended; returns the name of its progress socket.
  std::string begin(TaskOrder execution) {
    if (!executor_) {
      executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
    }
    const TaskId task = execution.task.id;
    execution.program.argv = {"/bin/sh", "-c", "echo $MUSTER_SOCKET; exec sleep 100"};
    executor_->start(execution);
    LogPart part;
    EXPECT_TRUE(host_.run_until([&] {
      part = executor_->read_log({task, 1, false, 0, 1000});
      return host_.heard("started", task) && part.text.ends_with("\n");
    }));
    return part.text.substr(0, part.text.find('\n'));
  }
  ~ProcessProgressTest() override {
    if (!executor_) return;
    for (std::uint64_t task = 1; task <= 2; ++task) executor_->stop(TaskId{task}, 1);
    host_.run_until([&] { return host_.count("left") >= host_.count("started"); });
  }
  /// The sample of the task once there is one.
  double sample_of(std::uint64_t task) {
    double normalized = -1;
    host_.run_until([&] {
      for (const ExecutionSample& sample : executor_->sample()) {
        if (sample.task == TaskId{task}) normalized = sample.normalized.value_or(normalized);
      }
      return normalized >= 0;
    });
    return normalized;
  }
  /// Reports until the executor has two points of the task.
  void report(Reporter& reporter, double units_a_step) {
    for (int i = 0; i < 50; ++i) {
      units_ += units_a_step;
      EXPECT_EQ(reporter.ask("progress " + std::to_string(units_) + "\n"), "ok\n");
      host_.run_until(
          [until = boot_time() + std::chrono::milliseconds{10}] { return boot_time() >= until; });
    }
  }

  test::TempFile files_{"kept", ""};
  ProcessOptions options_ = test::process_options(files_.folder());
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_;
  double units_ = 1000;
};

TEST_F(ProcessProgressTest, WithoutReportsThereIsNoSample) {
  begin(script(1, ""));
  EXPECT_TRUE(executor_->sample().empty());
}

TEST_F(ProcessProgressTest, ASampleIsTheRateAgainstThatOfTheJobAlone) {
  TaskOrder execution = script(1, "");
  execution.program.baseline_rate_per_s = 1e6;
  Reporter reporter(begin(execution));
  report(reporter, 1);
  const double sample = sample_of(1);
  EXPECT_GT(sample, 0);
  EXPECT_LT(sample, 0.01);  // at most some hundred units a second
}

TEST_F(ProcessProgressTest, ASampleNeverExceedsOne) {
  TaskOrder execution = script(1, "");
  execution.program.baseline_rate_per_s = 1e-6;
  Reporter reporter(begin(execution));
  report(reporter, 1);
  EXPECT_EQ(sample_of(1), 1);
}

TEST_F(ProcessProgressTest, TheBestRateOfTheClassWhenAloneIsTheReference) {
  Reporter alone(begin(script(1, "")));
  report(alone, 1e6);
  EXPECT_GT(sample_of(1), 0.5);
  Reporter neighbour(begin(script(2, "")));
  report(neighbour, 1);
  EXPECT_LT(sample_of(2), 0.01);
}

TEST_F(ProcessProgressTest, WithNothingToCompareWithOnlyTheProgressIsKnown) {
  TaskOrder other = script(2, "");
  other.workload_class = "other";
  begin(other);
  Reporter reporter(begin(script(1, "")));
  report(reporter, 1);
  const auto samples = executor_->sample();
  ASSERT_EQ(samples.size(), 1u) << "the other one says nothing";
  EXPECT_FALSE(samples[0].normalized);
  EXPECT_GT(samples[0].progress->done, 1000);
}

TEST_F(ProcessProgressTest, ProgressIsKnownToTheNextWorker) {
  TaskOrder execution = script(1, "");
  execution.program.baseline_rate_per_s = 1e6;
  Reporter reporter(begin(execution));
  report(reporter, 1);
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  executor_->adopt();
  host_.news.clear();
  EXPECT_LT(sample_of(1), 0.01);
  EXPECT_EQ(reporter.ask("progress 5000\n"), "ok\n");
}

TEST_F(ProcessProgressTest, AStepOfTrainingIsToldWithTheNextProgressAndByTheNextWorkerToo) {
  TaskOrder execution = script(1, "");
  execution.task_count = 4;
  Reporter reporter(begin(execution));
  EXPECT_EQ(reporter.ask("step 32 1 0.5 0.25 2 30.5\n"), "ok\n");
  EXPECT_THAT(reporter.ask("step 32\n"), AllOf(StartsWith("error: "), IsGolden()));
  report(reporter, 1);
  const auto said = [&] {
    const auto samples = executor_->sample();
    return samples.empty() || !samples[0].progress ? std::nullopt : samples[0].progress->training;
  };
  const TrainingSample wanted{0, 4, 32, 1, 0.5, 0.25, 2, 30.5};
  EXPECT_TRUE(host_.run_until([&] { return said() == wanted; }));
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  executor_->adopt();
  host_.news.clear();
  EXPECT_TRUE(host_.run_until([&] { return said() == wanted; }));
  EXPECT_EQ(reporter.ask("progress 5000\n"), "ok\n");
}

TEST_F(ProcessProgressTest, MetricsAreToldTogetherAndByTheNextWorkerToo) {
  Reporter reporter(begin(script(1, "")));
  EXPECT_EQ(reporter.ask("metric p99_ms 12.5\n"), "ok\n");
  EXPECT_EQ(reporter.ask("metric loss 0.1\n"), "ok\n");
  EXPECT_EQ(reporter.ask("metric p99_ms 13\n"), "ok\n");
  const Metrics wanted{{"loss", 0.1}, {"p99_ms", 13}};
  const auto told = [&] { return host_.metrics[TaskId{1}] == wanted; };
  EXPECT_TRUE(host_.run_until(told));
  EXPECT_TRUE(executor_->sample().empty()) << "metrics are no progress";
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  executor_->adopt();
  host_.news.clear();
  host_.metrics.clear();
  EXPECT_TRUE(host_.run_until(told));
  host_.metrics.clear();
  executor_->repeat_reports();
  EXPECT_TRUE(host_.run_until(told)) << "a new link asks for all of it again";
}

TEST_F(ProcessProgressTest, MetricsThatNobodyMayReportAreRefusedWithTheRule) {
  options_.metric_names = 2;
  Reporter reporter(begin(script(1, "")));
  for (const char* line :
       {"metric\n", "metric p99\n", "metric P99 1\n", "metric p99 x\n", "metric p99 nan\n",
        "metric p99 1e19\n", "metric p 99 1\n", "metric p99_ms 5 ms\n"}) {
    EXPECT_THAT(reporter.ask(line), AllOf(StartsWith("error: "), IsGolden())) << line;
  }
  EXPECT_EQ(reporter.ask("metric a 1\n"), "ok\n");
  EXPECT_EQ(reporter.ask("metric b -2e3\n"), "ok\n");
  EXPECT_THAT(reporter.ask("metric c 1\n"), AllOf(StartsWith("error: "), IsGolden()));
  EXPECT_EQ(reporter.ask("metric a 7\n"), "ok\n") << "a name that it has";
  EXPECT_TRUE(host_.run_until([&] {
    return host_.metrics[TaskId{1}] == Metrics{{"a", 7}, {"b", -2000}};
  }));
}

TEST_F(ProcessProgressTest, AFloodOfMetricsIsToldSeldomAndNeverGrows) {
  const std::string name = begin(script(1, ""));
  Reporter reporter(name);
  const Duration began = boot_time();
  int refused = 0;
  constexpr int kLines = 400;
  for (int i = 0; i < kLines; ++i) {
    const std::string line = "metric m" + std::to_string(i % 100) + " " + std::to_string(i) + "\n";
    refused += reporter.ask(line) != "ok\n";
  }
  EXPECT_EQ(refused, kLines - 4 * 16) << "of 100 names those that came first are kept";
  EXPECT_TRUE(host_.run_until([&] { return host_.metrics[TaskId{1}].size() == 16; }));
  const auto most =
      static_cast<std::size_t>((boot_time() - began) / std::chrono::milliseconds{200});
  EXPECT_LE(host_.count("reported"), most + 2);
}

TEST_F(ProcessProgressTest, TheLastMetricsOfATaskAreToldBeforeItsEnd) {
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  TaskOrder execution = script(1, "");
  execution.program.argv = {"python3", "-c",
                            "import os, socket\n"
                            "s = socket.socket(socket.AF_UNIX)\n"
                            "n = os.environ['MUSTER_SOCKET']\n"
                            "s.connect('\\0' + n[1:] if n[0] == '@' else n)\n"
                            "for i in range(3):\n"
                            "  s.sendall(b'metric accuracy 0.%d\\n' % i)\n"
                            "  s.recv(9)\n"};
  executor_->start(execution);
  ASSERT_EQ(host_.end_of(TaskId{1}, 1).what, "finished");
  EXPECT_EQ(host_.metrics[TaskId{1}], (Metrics{{"accuracy", 0.2}}));
  EXPECT_EQ(host_.news[host_.news.size() - 2].what, "reported");
  executor_.reset();  // nothing runs any more
}

TEST_F(ProcessProgressTest, LongPathsAreReplacedByAnAbstractName) {
  options_.state_dir = files_.folder() / std::string(100, 'x');
  const std::string name = begin(script(1, ""));
  EXPECT_EQ(name[0], '@');
  EXPECT_EQ(Reporter(name).ask("progress 1\n"), "ok\n");
}

TEST_F(ProcessProgressTest, TheExampleInTheDocumentsGoesOnFromItsCheckpoint) {
  options_.state_dir = files_.folder() / "state";
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  const auto step = [&] {
    const std::string text = test::content_of(options_.checkpoint_root / "7/0/step");
    return text.empty() ? 0 : std::stoi(text);
  };
  TaskOrder execution = script(1, "");
  execution.program.argv = {"python3", test::source_dir() / "docs/examples/progress.py"};
  execution.program.baseline_rate_per_s = 1e6;
  int before = 0;
  for (Attempt attempt = 1; attempt <= 2; ++attempt) {
    execution.attempt = attempt;
    executor_->start(execution);
    EXPECT_GT(sample_of(1), 0);  // it has reported at least twice
    executor_->stop(TaskId{1}, attempt);
    const auto end = host_.end_of(TaskId{1}, attempt);
    EXPECT_EQ(end.what, "left") << end.end.err_tail;
    EXPECT_EQ(end.end.exit_code, 85) << end.end.err_tail;
    EXPECT_GT(step(), before);
    before = step();
  }
}

TEST_F(ProcessProgressTest, WrongLinesAreAnsweredAndChangeNothing) {
  Reporter reporter(begin(script(1, "")));
  EXPECT_EQ(reporter.ask("progress 10\n"), "ok\n");
  EXPECT_THAT(reporter.ask("progress 9\n"), AllOf(StartsWith("error: "), IsGolden()));
  EXPECT_THAT(reporter.ask("progress far\n"), AllOf(StartsWith("error: "), IsGolden()));
  EXPECT_THAT(reporter.ask("stop\n"), AllOf(StartsWith("error: "), IsGolden()));
  EXPECT_THAT(reporter.ask(std::string(3, '\0') + "\n"), AllOf(StartsWith("error: "), IsGolden()));
  EXPECT_EQ(reporter.ask("progress 10\n"), "ok\n");
}

TEST_F(ProcessProgressTest, AnEndlessLineIsCutOff) {
  Reporter reporter(begin(script(1, "")));
  EXPECT_THAT(reporter.ask(std::string(300, 'a')), AllOf(StartsWith("error: "), IsGolden()));
  EXPECT_EQ(reporter.hear(), "");
}

TEST_F(ProcessProgressTest, ConnectionsPastTheBoundAreCutOff) {
  const std::string name = begin(script(1, ""));
  std::vector<std::unique_ptr<Reporter>> reporters;
  for (int i = 0; i < 8; ++i) {
    reporters.push_back(std::make_unique<Reporter>(name));
    EXPECT_EQ(reporters.back()->ask("progress 1\n"), "ok\n");
  }
  EXPECT_EQ(Reporter(name).hear(), "");
  EXPECT_EQ(reporters.front()->ask("progress 2\n"), "ok\n");
  reporters.pop_back();
  EXPECT_TRUE(host_.run_until([&] { return Reporter(name).ask("progress 2\n") == "ok\n"; }));
}

TEST_F(ProcessProgressTest, AFloodDoesNotKeepTheShimFromItsWork) {
  Reporter flood(begin(script(1, "")));
  for (int i = 0; i < 200; ++i) {  // the answers are not read
    std::string lines;
    while (lines.size() < 4000) lines += "progress " + std::to_string(i) + "\n";
    flood.say(lines);
  }
  executor_->stop(TaskId{1}, 1);
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).what, "left");
}

}  // namespace
}  // namespace muster

// An attempt always comes to an end, whatever has become of its folder and of its supervisor, and
// the end is what the program's was.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <set>

#include "tests/support/golden.hpp"
#include "tests/support/process_host.hpp"

namespace muster {
namespace {

using test::content_of;
using test::IsGolden;
using test::ProcessHost;
using test::script;
using namespace std::chrono_literals;

constexpr const char* kRemove = "rm -rf \"$MUSTER_ATTEMPT_DIR\"; ";
constexpr const char* kRunOn = "while :; do sleep 0.01; done";

class ProcessEndsTest : public ::testing::Test {
 protected:
  ProcessEndsTest() : options_(test::process_options(files_.folder())) {
    options_.end_patience = 200ms;
    make();
  }
  ~ProcessEndsTest() override {
    if (frozen_ > 0) kill(frozen_, SIGCONT);
  }
  void make() {
    executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  }
  /// A script that says when it is there.
  static std::string ready_at(const std::string& file) { return "touch " + file + "; "; }
  TaskOrder ready_then(const std::string& before, const std::string& after = kRunOn) {
    return script(1,
                  before + "echo $PPID >" + file("shim") + "; " + ready_at(file("ready")) + after);
  }
  void start(const TaskOrder& execution) {
    executor_->start(execution);
    ASSERT_TRUE(host_.run_until([&] { return std::filesystem::exists(file("ready")); }));
  }
  ProcessHost::News run(const TaskOrder& execution) {
    executor_->start(execution);
    return end();
  }
  ProcessHost::News stop() {
    executor_->stop(TaskId{1}, 1);
    return end();
  }
  ProcessHost::News end() { return host_.end_of(TaskId{1}, 1); }
  /// The supervisor of the task hears and does nothing from now on.
  void freeze() {
    frozen_ = std::stoi("0" + content_of(file("shim")));
    ASSERT_GT(frozen_, 1);
    ASSERT_EQ(kill(frozen_, SIGSTOP), 0);
  }
  std::string file(const std::string& name) { return (files_.folder() / name).string(); }
  std::string attempts() { return file("state/attempts"); }

  test::TempFile files_{"kept", ""};
  ProcessOptions options_;
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_;
  pid_t frozen_ = 0;
};

TEST_F(ProcessEndsTest, WhoRemovesItsFolderHasFailedAlthoughItExitsWithZero) {
  const auto end = run(script(1, std::string(kRemove) + "exit 0"));
  EXPECT_EQ(end.what, "failed");
  EXPECT_THAT(end.reason, IsGolden());
  EXPECT_EQ(end.end.exit_code, 1);
}

TEST_F(ProcessEndsTest, WhoRemovesItsFolderAndFailsHasFailedBecauseOfThat) {
  const auto end = run(script(1, std::string(kRemove) + "exit 3"));
  EXPECT_THAT(end.reason, testing::AllOf(testing::HasSubstr("exit code 3"), IsGolden()));
  EXPECT_EQ(end.end.exit_code, 3);
}

TEST_F(ProcessEndsTest, AnAttemptWithoutAFolderCanBeStopped) {
  start(ready_then(kRemove));
  const auto end = stop();
  EXPECT_EQ(end.what, "left");
  EXPECT_EQ(end.end.exit_code, 143);
}

TEST_F(ProcessEndsTest, TheTimeLimitHoldsWithoutAFolder) {
  TaskOrder execution = ready_then(kRemove);
  execution.program.time_limit = 1s;
  const auto end = run(execution);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.end.failure, FailureKind::time_limit);
}

TEST_F(ProcessEndsTest, AKilledSupervisorWhoseFolderIsGoneIsAnEnd) {
  const auto end = run(script(1, std::string(kRemove) + "kill -9 $PPID; sleep 100"));
  EXPECT_EQ(end.what, "failed");
  EXPECT_THAT(end.reason, IsGolden());
  EXPECT_EQ(end.end.failure, FailureKind::lost);
}

TEST_F(ProcessEndsTest, AnAttemptWhoseFolderWasRenamedEndsAsItsProgramDoes) {
  EXPECT_EQ(run(script(1, "mv \"$MUSTER_ATTEMPT_DIR\" " + file("elsewhere") + "; exit 0")).what,
            "finished");
}

TEST_F(ProcessEndsTest, WhoRemovesTheLockIsNotTakenForDead) {
  start(ready_then("rm \"$MUSTER_ATTEMPT_DIR/lock\"; ",
                   "while [ ! -e " + file("go") + " ]; do sleep 0.01; done"));
  executor_.reset();
  host_.news.clear();
  make();
  ASSERT_EQ(executor_->adopt().size(), 1u);
  std::ofstream(file("go")) << "!";
  EXPECT_EQ(end().what, "finished");
}

TEST_F(ProcessEndsTest, AResultThatCannotBeWrittenIsToldAllTheSame) {
  const auto end = run(script(1, "mkdir \"$MUSTER_ATTEMPT_DIR/result\"; echo said; exit 0"));
  EXPECT_EQ(end.what, "finished");
  EXPECT_EQ(end.end.out_tail, "said\n");
}

TEST_F(ProcessEndsTest, TheResultOfAnotherAttemptIsNone) {
  std::filesystem::create_directories(attempts() + "/1.1");
  process::AttemptResult other;
  other.key = process::AttemptKey{TaskId{9}, 4};
  std::set<std::string> reasons;
  for (const std::string& text : {process::to_text(other), std::string(), std::string("[]")}) {
    executor_.reset();
    host_.news.clear();
    std::ofstream(attempts() + "/1.1/result") << text;
    make();
    ASSERT_EQ(executor_->adopt().size(), 1u);
    const auto found = end();
    EXPECT_EQ(found.end.failure, FailureKind::lost) << text;
    reasons.insert(found.reason);
  }
  EXPECT_THAT(reasons, testing::ElementsAre(IsGolden()));
}

TEST_F(ProcessEndsTest, AStartOfWhatHasAFolderAlreadyComesToAnEnd) {
  std::filesystem::create_directories(attempts() + "/1.1");
  EXPECT_EQ(run(script(1, "true")).end.failure, FailureKind::lost);
}

TEST_F(ProcessEndsTest, AStopEndsWhatItsSupervisorDoesNotEnd) {
  TaskOrder execution = ready_then("");
  execution.program.stop_grace = 100ms;
  start(execution);
  freeze();
  const auto end = stop();
  EXPECT_EQ(end.what, "left");
  EXPECT_EQ(end.end.exit_code, 137);
}

TEST_F(ProcessEndsTest, AStopEndsTheTaskOfASupervisorWhoseProcessTheNextWorkerDoesNotKnow) {
  TaskOrder execution = ready_then("echo $$ >" + file("task") + "; ");
  execution.program.stop_grace = 100ms;
  start(execution);
  const pid_t task = std::stoi("0" + content_of(file("task")));
  freeze();
  executor_.reset();
  host_.news.clear();
  make();
  ASSERT_EQ(executor_->adopt().size(), 1u);
  EXPECT_EQ(stop().what, "left");
  // Its parent does nothing, so that it stays as a process that has ended.
  EXPECT_THAT(content_of("/proc/" + std::to_string(task) + "/stat"), testing::HasSubstr(") Z "));
}

TEST_F(ProcessEndsTest, TheTimeLimitHoldsWhenItsSupervisorDoesNothing) {
  TaskOrder execution = ready_then("");
  execution.program.time_limit = 1s;
  execution.program.stop_grace = 100ms;
  start(execution);
  freeze();
  const auto end = this->end();
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.reason, "time limit of 1 s reached");
  EXPECT_EQ(end.end.failure, FailureKind::time_limit);
}

TEST_F(ProcessEndsTest, WhatEndsAfterItWasAskedToLeavesWhateverItsCode) {
  start(ready_then("trap 'exit 0' TERM; "));
  const auto end = stop();
  EXPECT_EQ(end.what, "left");
  EXPECT_EQ(end.end.exit_code, 0);
}

TEST_F(ProcessEndsTest, WhatEndedBeforeItWasAskedToHasItsOwnEnd) {
  options_.end_patience = 30s;
  executor_.reset();
  make();
  start(ready_then("", "while [ ! -e " + file("go") + " ]; do sleep 0.01; done; echo $$ >" +
                           file("gone") + "; exit 0"));
  freeze();
  std::ofstream(file("go")) << "!";
  ASSERT_TRUE(host_.run_until([&] { return !content_of(file("gone")).empty(); }));
  const std::string state =
      "/proc/" + std::to_string(std::stoi(content_of(file("gone")))) + "/stat";
  ASSERT_TRUE(host_.run_until([&] { return content_of(state).find(") Z ") != std::string::npos; }));
  executor_->stop(TaskId{1}, 1);
  kill(frozen_, SIGCONT);
  EXPECT_EQ(end().what, "finished");
}

TEST_F(ProcessEndsTest, ASignalComesBeforeTheTimeLimit) {
  TaskOrder execution = script(1, std::string("trap 'echo warned; exit 7' USR1; ") + kRunOn);
  execution.program.time_limit = 60s;
  execution.program.warn_signal = SIGUSR1;
  execution.program.warn_before = 59s;
  const auto end = run(execution);
  EXPECT_EQ(end.reason, "exit code 7");
  EXPECT_EQ(end.end.out_tail, "warned\n");
}

TEST_F(ProcessEndsTest, ASignalForTheProgramAloneReachesNothingThatItHasStarted) {
  TaskOrder execution = script(1, "sh -c 'trap \"echo child\" USR1; " + std::string(kRunOn) +
                                      "' & trap 'sleep 0.2; exit 7' USR1; " + kRunOn);
  execution.program.time_limit = 60s;
  execution.program.warn_signal = SIGUSR1;
  execution.program.warn_before = 59s;
  execution.program.warn_program_only = true;
  const auto end = run(execution);
  EXPECT_EQ(end.reason, "exit code 7");
  EXPECT_EQ(end.end.out_tail, "");
}

}  // namespace
}  // namespace muster

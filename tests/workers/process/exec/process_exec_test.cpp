#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tests/support/golden.hpp"
#include "tests/support/process_host.hpp"

// Commands beside tasks, as a worker runs them.

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::content_of;
using test::ProcessHost;
using test::script;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kUntilStopped = "while :; do sleep 0.05; done";

class ProcessExecTest : public ::testing::Test {
 protected:
  ProcessExecTest() : options_(test::process_options(files_.folder())) {}
  /// Its tasks would go on for ever.
  ~ProcessExecTest() override {
    if (!executor_) return;
    for (std::uint64_t task = 1; task <= 4; ++task) executor_->stop(TaskId{task}, 1);
    host_.run_until([&] {
      return host_.count("left") + host_.count("finished") + host_.count("failed") >=
             host_.count("started");
    });
  }

  /// Starts the executor with a task that runs.
  void start(const TaskOrder& order = script(1, kUntilStopped)) {
    if (!executor_) {
      executor_ = std::make_unique<ProcessExecutor>(InstanceId{5}, options_, host_.host());
    }
    executor_->start(order);
    ASSERT_TRUE(host_.run_until([&] { return host_.heard("started", order.task.id); }));
  }
  ExecAnswer ask(const ExecRequest& request) {
    std::optional<ExecAnswer> answer;
    executor_->exec(request, [&](ExecAnswer made) { answer = std::move(made); });
    EXPECT_TRUE(host_.run_until([&] { return answer.has_value(); }));
    return answer.value_or(ExecAnswer{});
  }
  ExecRequest shell(const std::string& text, std::uint64_t task = 1) const {
    ExecRequest request;
    request.task = TaskId{task};
    request.attempt = 1;
    request.user = "ann";
    request.argv = {"/bin/sh", "-c", text};
    return request;
  }
  ExecRequest step(const ExecAnswer& begun, std::uint64_t task = 1) const {
    ExecRequest request;
    request.task = TaskId{task};
    request.command = begun.command;
    request.max_bytes = kMostExecOutput;
    request.wait = seconds{5};
    return request;
  }
  struct End {
    std::string out;
    std::string err;
    std::int32_t exit_code = -1;
    std::string reason;
  };
  /// Reads all that the command writes until it is over, behind what was `read` of it.
  End end_of(const ExecAnswer& begun, const std::string& read = {}) {
    End end;
    end.out = read;
    ExecRequest next = step(begun);
    next.out_at = read.size();
    while (true) {
      const ExecAnswer answer = ask(next);
      EXPECT_EQ(answer.trouble, ExecTrouble::none) << answer.reason;
      EXPECT_EQ(answer.out_at, end.out.size());
      end.out += answer.out;
      end.err += answer.err;
      next.out_at = end.out.size();
      next.err_at = end.err.size();
      end.exit_code = answer.exit_code;
      end.reason = answer.reason;
      if (answer.over || answer.trouble != ExecTrouble::none) return end;
    }
  }
  End run(const ExecRequest& request) {
    const ExecAnswer begun = ask(request);
    EXPECT_EQ(begun.trouble, ExecTrouble::none) << begun.reason;
    return end_of(begun);
  }

  test::TempFile files_{"nothing", ""};
  ProcessOptions options_;
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_;
};

TEST_F(ProcessExecTest, StreamsStayApartAndTheExitCodeIsPassedOn) {
  start();
  const End end = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(end.out, "out\n");
  EXPECT_EQ(end.err, "err\n");
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(run(shell("kill -TERM $$")).exit_code, 143);
}

TEST_F(ProcessExecTest, ACommandHasTheFolderAndTheEnvironmentOfItsTask) {
  TaskOrder order = script(1, "echo mark >here; " + std::string(kUntilStopped));
  order.program.env = {{"COLOUR", "blue"}};
  start(order);
  const End end =
      run(shell("until test -s here; do sleep 0.01; done; cat here; "
                "echo $COLOUR $MUSTER_JOB_ID; ulimit -c; grep NoNewPrivs "
                "/proc/self/status"));
  EXPECT_EQ(end.out, "mark\nblue 7\n0\nNoNewPrivs:\t1\n");
}

TEST_F(ProcessExecTest, ATerminalTakesKeysAndASize) {
  start();
  ExecRequest request = shell("stty size; echo $TERM; read line; echo got $line; exec sleep 60");
  request.terminal = true;
  request.term = "xterm";
  request.rows = 33;
  request.columns = 77;
  const ExecAnswer begun = ask(request);
  ExecRequest keys = step(begun);
  keys.max_bytes = 0;
  keys.wait = {};
  keys.input = "hello\n";
  EXPECT_EQ(ask(keys).input_at, 6u);
  ExecRequest next = step(begun);
  std::string out;
  while (out.find("got hello") == std::string::npos) {
    next.out_at = out.size();
    out += ask(next).out;
  }
  EXPECT_THAT(out, HasSubstr("33 77\r\nxterm\r\n"));
  // Ctrl-C goes through the terminal.
  keys.input_at = 6;
  keys.input = "\3";
  ask(keys);
  EXPECT_EQ(end_of(begun, out).exit_code, 130);
}

TEST_F(ProcessExecTest, InputThatComesAgainIsTakenOnce) {
  start();
  const ExecAnswer begun = ask(shell("cat"));
  ExecRequest next = step(begun);
  next.wait = {};
  next.input = "one ";
  EXPECT_EQ(ask(next).input_at, 4u);
  EXPECT_EQ(ask(next).input_at, 4u) << "as after a lost answer";
  next.input = "one two";
  EXPECT_EQ(ask(next).input_at, 7u);
  next.input_ends = true;
  EXPECT_EQ(ask(next).input_at, 7u);
  const End end = end_of(begun);
  EXPECT_EQ(end.out, "one two");
  EXPECT_EQ(end.exit_code, 0);
}

TEST_F(ProcessExecTest, SignalsReachTheCommandAndWhatItHasStarted) {
  start();
  const ExecAnswer begun =
      ask(shell("trap 'echo caught; exit 9' INT; echo ready; "
                "while :; do sleep 0.05; done"));
  EXPECT_EQ(ask(step(begun)).out, "ready\n");
  ExecRequest signal = step(begun);
  signal.max_bytes = 0;
  signal.wait = {};
  signal.signal = SIGINT;
  ask(signal);
  const End end = end_of(begun);
  EXPECT_EQ(end.out, "ready\ncaught\n");
  EXPECT_EQ(end.exit_code, 9);
}

TEST_F(ProcessExecTest, ItEndsWithItsAttempt) {
  start();
  const ExecAnswer begun = ask(shell("echo $$; trap '' TERM HUP; while :; do sleep 0.05; done"));
  const std::string number = ask(step(begun)).out;
  executor_->stop(TaskId{1}, 1);
  const End end = end_of(begun);
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_THAT(end.reason, test::IsGolden());
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).what, "left");
  EXPECT_NE(kill(std::stoi(number), 0), 0) << "it runs no more";
}

TEST_F(ProcessExecTest, AClientThatReadsNothingStopsTheCommandAndNotMemory) {
  start();
  const ExecAnswer begun = ask(shell("head -c 100000000 /dev/zero; echo all >>done"));
  const auto done = files_.folder() / "state" / "attempts" / "1.1" / "work" / "done";
  ExecRequest next = step(begun);
  std::uint64_t kept = 0;
  // Until nothing more comes: all that there is room for has been read.
  for (int silent = 0; silent < 20; ++silent) {
    next.wait = milliseconds{20};
    const ExecAnswer answer = ask(next);
    if (answer.out.size() > kept) silent = 0;
    kept = answer.out.size();
    host_.run_until([] { return true; });
    usleep(5'000);
  }
  EXPECT_EQ(kept, kMostExecOutput);
  EXPECT_FALSE(std::filesystem::exists(done));
  EXPECT_EQ(end_of(begun).out.size(), 100'000'000u);
  EXPECT_EQ(content_of(done), "all\n");
}

TEST_F(ProcessExecTest, OneWithoutAClientIsHungUp) {
  options_.exec_keep = milliseconds{300};
  start();
  const ExecAnswer begun = ask(shell("echo $$; exec sleep 600"));
  const std::string number = ask(step(begun)).out;
  EXPECT_TRUE(host_.run_until([&] { return kill(std::stoi(number), 0) != 0; }));
  EXPECT_EQ(ask(step(begun)).trouble, ExecTrouble::unknown);
  EXPECT_FALSE(host_.heard("finished", TaskId{1})) << "its task goes on";
}

TEST_F(ProcessExecTest, WhoSaysThatItGoesEndsTheCommandAndTheJobsOfItsShell) {
  start();
  ExecRequest request = shell("set -m; sleep 600 & echo $!; wait");
  request.terminal = true;
  const ExecAnswer begun = ask(request);
  std::string out;
  ExecRequest next = step(begun);
  while (out.find('\n') == std::string::npos) {
    next.out_at = out.size();
    out += ask(next).out;
  }
  next.ends = true;
  ask(next);
  const pid_t job = std::stoi(out);
  EXPECT_TRUE(host_.run_until([&] { return kill(job, 0) != 0; }));
}

TEST_F(ProcessExecTest, ARepeatedRequestBeginsNoSecondCommand) {
  start();
  ExecRequest request = shell("echo once >>runs; cat runs");
  request.token = "t";
  const ExecAnswer first = ask(request);
  const ExecAnswer second = ask(request);
  EXPECT_EQ(first.command, second.command);
  EXPECT_EQ(instance_of_exec(first.command), InstanceId{5});
  EXPECT_EQ(end_of(first).out, "once\n");
}

TEST_F(ProcessExecTest, WhatCannotStartIsSaid) {
  start();
  ExecRequest request = shell("");
  request.argv = {"no-such-program"};
  const ExecAnswer answer = ask(request);
  EXPECT_EQ(answer.trouble, ExecTrouble::failed);
  EXPECT_EQ(answer.exit_code, 127);
  EXPECT_THAT(answer.reason, StartsWith("cannot start: "));
  // The place of the failed one is free again.
  EXPECT_EQ(run(shell("echo on")).out, "on\n");
}

TEST_F(ProcessExecTest, ATaskThatDoesNotRunHasNoCommands) {
  start();
  EXPECT_EQ(ask(shell("true", 2)).trouble, ExecTrouble::not_running);
  executor_->stop(TaskId{1}, 1);
  host_.end_of(TaskId{1}, 1);
  EXPECT_EQ(ask(shell("true")).trouble, ExecTrouble::not_running);
}

TEST_F(ProcessExecTest, ACommandIsThatOfItsTaskAlone) {
  start();
  start(script(2, kUntilStopped));
  const ExecAnswer begun = ask(shell("exec sleep 600"));
  EXPECT_EQ(ask(step(begun, 2)).trouble, ExecTrouble::unknown);
}

TEST_F(ProcessExecTest, ThereAreAsManyAsMayBeAtOnce) {
  options_.exec_most = 2;
  start();
  ask(shell("exec sleep 600"));
  const ExecAnswer second = ask(shell("exec sleep 600"));
  const ExecAnswer third = ask(shell("true"));
  EXPECT_EQ(third.trouble, ExecTrouble::too_many);
  EXPECT_THAT(third.reason, AllOf(HasSubstr("2"), EndsWith("(worker.exec_most)")));
  ExecRequest ends = step(second);
  ends.ends = true;
  ask(ends);
  EXPECT_EQ(run(shell("echo on")).out, "on\n");
}

TEST_F(ProcessExecTest, TheSettingZeroMeansNone) {
  options_.exec_most = 0;
  start();
  EXPECT_EQ(ask(shell("true")).trouble, ExecTrouble::unsupported);
}

TEST_F(ProcessExecTest, CommandsRunAsTheUserOfTheTask) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  options_.task_uid = 65534;
  std::filesystem::permissions(files_.folder(), std::filesystem::perms::all);
  start();
  ExecRequest request = shell(
      "id -u; grep -c . /proc/self/status >/dev/null; "
      "grep CapEff /proc/self/status; stat -c %u $(tty)");
  request.terminal = true;
  EXPECT_EQ(run(request).out, "65534\r\nCapEff:\t0000000000000000\r\n65534\r\n");
}

}  // namespace
}  // namespace muster

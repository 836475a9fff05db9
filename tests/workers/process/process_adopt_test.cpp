#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <csignal>

#include "tests/support/golden.hpp"
#include "tests/support/process_host.hpp"
#include "workers/process/limits/limits.hpp"

namespace muster {
namespace {

using process::LimitMeans;
using test::content_of;
using test::IsGolden;
using test::ProcessHost;
using test::script;

/// Workers that come one after the other in the same state folder.
class ProcessAdoptTest : public ::testing::TestWithParam<LimitMeans> {
 protected:
  ProcessAdoptTest() : options_(test::process_options(files_.folder())) {
    options_.best_means = GetParam();
    make();
  }
  void make() {
    executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  }
  /// The worker goes without a word; what it had been told is forgotten.
  void restart() {
    executor_.reset();
    host_.news.clear();
    make();
  }
  bool started(std::uint64_t task) {
    return host_.run_until([&] { return host_.heard("started", TaskId{task}); });
  }
  ProcessHost::News end_of(std::uint64_t task) { return host_.end_of(TaskId{task}, 1); }
  /// A task that runs until the file "go" is there.
  TaskOrder waiting(std::uint64_t task, const std::string& then = "echo gone on") {
    TaskOrder execution =
        script(task, "echo begun; while [ ! -e " + file("go") + " ]; do sleep 0.01; done; " + then);
    execution.granted = Resources::of(1, 1.5, 2);
    return execution;
  }
  bool wait_for_file(const std::string& name) {
    return host_.run_until([&] { return std::filesystem::exists(file(name)); });
  }
  std::string file(const std::string& name) { return (files_.folder() / name).string(); }
  pid_t pid_in(const std::string& name) { return std::stoi("0" + content_of(file(name))); }
  bool goes_away(pid_t pid) {
    return host_.run_until([pid] { return kill(pid, 0) != 0; });
  }

  test::TempFile files_{"kept", ""};
  ProcessOptions options_;
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_;
};

std::string means_name(const ::testing::TestParamInfo<LimitMeans>& info) {
  return info.param == LimitMeans::subreaper ? "subreaper" : "best";
}
INSTANTIATE_TEST_SUITE_P(Means, ProcessAdoptTest,
                         ::testing::Values(LimitMeans::cgroup2, LimitMeans::subreaper), means_name);

TEST_P(ProcessAdoptTest, ANewWorkerFindsNothingWhereNothingRan) {
  EXPECT_TRUE(executor_->adopt().empty());
}

TEST_P(ProcessAdoptTest, ATaskOutlivesItsWorkerAndTheNextOneReportsItsEnd) {
  executor_->start(waiting(1));
  ASSERT_TRUE(started(1));
  restart();
  const auto found = executor_->adopt();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].task, TaskId{1});
  EXPECT_EQ(found[0].attempt, 1u);
  EXPECT_EQ(found[0].granted, Resources::of(1, 1.5, 2));
  ASSERT_TRUE(started(1));
  std::ofstream(file("go")) << "!";
  const auto end = end_of(1);
  EXPECT_EQ(end.what, "finished");
  EXPECT_EQ(end.end.out_tail, "begun\ngone on\n");
  EXPECT_EQ(host_.news.size(), 2u);
}

TEST_P(ProcessAdoptTest, ATaskThatEndedWhileNobodyWatchedIsReported) {
  executor_->start(waiting(1, "exit 4"));
  ASSERT_TRUE(started(1));
  executor_.reset();
  std::ofstream(file("go")) << "!";
  ASSERT_TRUE(wait_for_file("state/attempts/1.1/result"));
  restart();
  EXPECT_EQ(executor_->adopt().size(), 1u);
  const auto end = end_of(1);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.reason, "exit code 4");
}

TEST_P(ProcessAdoptTest, AnUnsettledEndIsReportedAgainAndASettledOneIsNot) {
  executor_->start(script(1, "true"));
  EXPECT_EQ(end_of(1).what, "finished");
  restart();
  EXPECT_EQ(executor_->adopt().size(), 1u);
  EXPECT_EQ(end_of(1).what, "finished");
  executor_->acknowledged(TaskId{1}, 1);
  restart();
  EXPECT_TRUE(executor_->adopt().empty());
}

TEST_P(ProcessAdoptTest, ARunningTaskCannotBeSettled) {
  executor_->start(waiting(1));
  ASSERT_TRUE(started(1));
  executor_->acknowledged(TaskId{1}, 1);
  restart();
  EXPECT_EQ(executor_->adopt().size(), 1u);
  std::ofstream(file("go")) << "!";
  EXPECT_EQ(end_of(1).what, "finished");
}

TEST_P(ProcessAdoptTest, AnAdoptedTaskCanBeStopped) {
  executor_->start(
      script(1, "trap 'exit 85' TERM; touch " + file("ready") + "; while :; do sleep 0.01; done"));
  ASSERT_TRUE(wait_for_file("ready"));
  restart();
  executor_->adopt();
  executor_->stop(TaskId{1}, 1);
  const auto end = end_of(1);
  EXPECT_EQ(end.what, "left");
  EXPECT_EQ(end.end.exit_code, 85);
}

TEST_P(ProcessAdoptTest, AStopThatAnEarlierWorkerAskedForIsRemembered) {
  executor_->start(script(1, "trap 'echo heard; while [ ! -e " + file("go") +
                                 " ]; do sleep 0.01; done; exit 85' TERM; touch " + file("ready") +
                                 "; while :; do sleep 0.01; done"));
  ASSERT_TRUE(wait_for_file("ready"));
  executor_->stop(TaskId{1}, 1);
  ASSERT_TRUE(host_.run_until([&] {
    return executor_->read_log({TaskId{1}, 1, false, 0, 100}).text == "heard\n";
  }));
  restart();
  executor_->adopt();
  std::ofstream(file("go")) << "!";
  EXPECT_EQ(end_of(1).what, "left");
}

TEST_P(ProcessAdoptTest, AnAdoptedTaskIsNotStartedAgain) {
  executor_->start(waiting(1, "echo once >> " + file("runs")));
  ASSERT_TRUE(started(1));
  restart();
  executor_->adopt();
  executor_->start(waiting(1, "echo twice >> " + file("runs")));
  std::ofstream(file("go")) << "!";
  EXPECT_EQ(end_of(1).what, "finished");
  EXPECT_EQ(content_of(file("runs")), "once\n");
}

TEST_P(ProcessAdoptTest, AnAttemptWhoseFolderWasJustMadeHasFailed) {
  std::filesystem::create_directories(file("state/attempts/4.2"));
  restart();
  const auto found = executor_->adopt();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].attempt, 2u);
  const auto end = host_.end_of(TaskId{4}, 2);
  EXPECT_EQ(end.what, "failed");
  EXPECT_THAT(end.reason, IsGolden());
  EXPECT_EQ(end.end.failure, FailureKind::lost);
}

TEST_P(ProcessAdoptTest, DamagedRecordsFailTheAttempt) {
  std::filesystem::create_directories(file("state/attempts/4.1"));
  std::ofstream(file("state/attempts/4.1/order")) << "{\"job\": 1, \"ta";
  std::ofstream(file("state/attempts/4.1/result")) << "[]";
  std::filesystem::create_directories(file("state/attempts/not an attempt"));
  restart();
  EXPECT_EQ(executor_->adopt().size(), 1u);
  const auto end = end_of(4);
  EXPECT_EQ(end.end.failure, FailureKind::lost);
  EXPECT_THAT(end.reason, IsGolden());
}

TEST_P(ProcessAdoptTest, AKilledSupervisorTakesTheTaskAndItsDaemonsWithIt) {
  executor_->start(script(1, "echo $PPID > " + file("shim") + "; echo $$ > " + file("task") +
                                 "; setsid sleep 100 & echo $! > " + file("daemon") + "; touch " +
                                 file("ready") + "; sleep 100"));
  ASSERT_TRUE(wait_for_file("ready"));
  ASSERT_EQ(kill(pid_in("shim"), SIGKILL), 0);
  const auto end = end_of(1);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.end.failure, FailureKind::lost);
  EXPECT_THAT(end.reason, IsGolden());
  EXPECT_TRUE(goes_away(pid_in("task")));
  EXPECT_TRUE(goes_away(pid_in("daemon")));
}

/// This process takes orphans in while one of these is there, as a worker does.
struct TakesOrphansIn {
  TakesOrphansIn() { prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~TakesOrphansIn() { prctl(PR_SET_CHILD_SUBREAPER, 0); }
};

TEST_P(ProcessAdoptTest, WhatHasClearedItsEnvironmentEndsWithItsKilledSupervisorToo) {
  const TakesOrphansIn as_a_worker;
  executor_->start(script(2, "sleep 100"));  // whose supervisor lives
  executor_->start(script(1, "echo $PPID > " + file("shim") + "; env -i setsid sh -c 'echo $$ > " +
                                 file("daemon") + "; env -i setsid sleep 100 & echo $! > " +
                                 file("its-child") + "; sleep 100' & while [ ! -s " +
                                 file("its-child") + " ]; do sleep 0.01; done; touch " +
                                 file("ready") + "; sleep 100"));
  ASSERT_TRUE(wait_for_file("ready"));
  ASSERT_TRUE(started(2));
  ASSERT_EQ(kill(pid_in("shim"), SIGKILL), 0);
  const auto end = end_of(1);
  EXPECT_EQ(end.end.failure, FailureKind::lost);
  EXPECT_THAT(end.reason, IsGolden());
  EXPECT_TRUE(goes_away(pid_in("daemon")));
  EXPECT_TRUE(goes_away(pid_in("its-child")));
  EXPECT_FALSE(host_.heard("failed", TaskId{2})) << "another attempt's shim is no stray";
  executor_->stop(TaskId{2}, 1);
  end_of(2);
}

/// The parent of a process.
pid_t parent_of(pid_t process) {
  const std::string status = content_of("/proc/" + std::to_string(process) + "/status");
  const std::size_t at = status.find("PPid:");
  return at == std::string::npos ? -1 : std::stoi(status.substr(at + 5));
}

TEST_P(ProcessAdoptTest, WhatForksTheShimsMayBeKilledAndAnotherTakesItsPlace) {
  const TakesOrphansIn as_a_worker;
  executor_->start(waiting(1, "true"));
  executor_->start(
      script(2, "echo $PPID > " + file("shim") + "; touch " + file("ready") + "; sleep 100"));
  ASSERT_TRUE(wait_for_file("ready"));
  ASSERT_TRUE(started(1));
  const pid_t server = parent_of(pid_in("shim"));
  ASSERT_NE(server, getpid());
  ASSERT_EQ(kill(server, SIGKILL), 0);
  // Shims have another parent then, and the next attempt another server.
  ASSERT_TRUE(host_.run_until([&] { return parent_of(pid_in("shim")) == getpid(); }));
  executor_->start(script(3, "exit 3"));
  EXPECT_EQ(end_of(3).reason, "exit code 3");
  // What is this process's child without having been forked by the new server is no stray.
  ASSERT_EQ(kill(pid_in("shim"), SIGKILL), 0);
  const auto end = end_of(2);
  EXPECT_EQ(end.end.failure, FailureKind::lost);
  EXPECT_THAT(end.reason, IsGolden());
  std::ofstream(file("go")) << "!";
  EXPECT_EQ(end_of(1).what, "finished");
}

TEST_P(ProcessAdoptTest, AShimSaysInItsCommandLineWhichAttemptItIsOf) {
  executor_->start(script(7, "tr '\\0' ' ' < /proc/$PPID/cmdline", 12));
  const auto end = host_.end_of(TaskId{7}, 12);
  EXPECT_THAT(end.end.out_tail, testing::StartsWith(options_.shim_program.string() + " shim " +
                                                    file("state/attempts/7.12 ")));
}

TEST_P(ProcessAdoptTest, WhatForksTheShimsEndsWithItsWorker) {
  executor_->start(waiting(1));
  ASSERT_TRUE(started(1));
  // The nearest come first.
  const auto found = process::descendants_of(getpid());
  ASSERT_FALSE(found.empty());
  executor_.reset();
  EXPECT_NE(kill(found.front(), 0), 0);
  std::ofstream(file("go")) << "!";
  ASSERT_TRUE(wait_for_file("state/attempts/1.1/result"));
}

TEST_P(ProcessAdoptTest, ASupervisorThatWasKilledWhileNobodyWatchedIsFound) {
  executor_->start(script(1, "echo $PPID > " + file("shim") + "; setsid sleep 100 & echo $! > " +
                                 file("daemon") + "; touch " + file("ready") + "; sleep 100"));
  ASSERT_TRUE(wait_for_file("ready"));
  executor_.reset();
  ASSERT_EQ(kill(pid_in("shim"), SIGKILL), 0);
  restart();
  EXPECT_EQ(executor_->adopt().size(), 1u);
  const auto end = end_of(1);
  EXPECT_EQ(end.end.failure, FailureKind::lost);
  EXPECT_THAT(end.reason, IsGolden());
  EXPECT_TRUE(goes_away(pid_in("daemon")));
}

/// Runs an executor in a process of its own, which tells when the task runs and is then killed.
void kill_a_worker(const ProcessOptions& options, const TaskOrder& execution) {
  const pid_t worker = fork();
  ASSERT_GE(worker, 0);
  if (worker == 0) {
    ProcessHost host;
    ProcessExecutor executor(InstanceId{3}, options, host.host());
    executor.start(execution);
    host.run_until([&] { return host.heard("started", execution.task.id); });
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(worker, &status, 0), worker);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST_P(ProcessAdoptTest, ATaskOutlivesAKilledWorker) {
  executor_.reset();
  kill_a_worker(options_, waiting(1));
  restart();
  EXPECT_EQ(executor_->adopt().size(), 1u);
  ASSERT_TRUE(started(1));
  std::ofstream(file("go")) << "!";
  const auto end = end_of(1);
  EXPECT_EQ(end.what, "finished");
  EXPECT_EQ(end.end.out_tail, "begun\ngone on\n");
}

TEST_P(ProcessAdoptTest, TheTimeLimitHoldsWithoutAWorker) {
  TaskOrder execution = waiting(1);
  execution.program.time_limit = std::chrono::milliseconds{200};
  executor_.reset();
  kill_a_worker(options_, execution);
  ASSERT_TRUE(wait_for_file("state/attempts/1.1/result"));
  restart();
  executor_->adopt();
  EXPECT_EQ(end_of(1).reason, "time limit of 0.2 s reached");
}

}  // namespace
}  // namespace muster

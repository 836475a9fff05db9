#include "workers/process/process_executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "tests/support/golden.hpp"
#include "tests/support/process_host.hpp"

namespace muster {
namespace {

using process::LimitMeans;
using test::content_of;
using test::IsGolden;
using test::ProcessHost;
using test::script;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// What the means of keeping limits do not change, tried with each of them that is here.
class ProcessExecutorTest : public ::testing::TestWithParam<LimitMeans> {
 protected:
  ProcessExecutorTest() : options_(test::process_options(files_.folder())) {
    options_.best_means = GetParam();
  }
  void make() {
    executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  }
  ProcessHost::News run(const TaskOrder& execution) {
    if (!executor_) make();
    executor_->start(execution);
    return host_.end_of(execution.task.id, execution.attempt);
  }
  ProcessHost::News end_of(TaskId task) { return host_.end_of(task, 1); }
  bool started(std::uint64_t task) {
    return host_.run_until([&] { return host_.heard("started", TaskId{task}); });
  }
  bool wait_for_file(const std::string& name) {
    return host_.run_until([&] { return std::filesystem::exists(file(name)); });
  }
  std::string file(const std::string& name) { return (files_.folder() / name).string(); }
  /// The process whose number the file tells is gone.
  bool is_gone(const std::string& name) {
    const pid_t pid = std::stoi("0" + content_of(file(name)));
    return pid > 0 && kill(pid, 0) != 0;
  }

  test::TempFile files_{"kept", ""};
  ProcessOptions options_;
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_;
};

std::string means_name(const ::testing::TestParamInfo<LimitMeans>& info) {
  return info.param == LimitMeans::subreaper ? "subreaper" : "best";
}
INSTANTIATE_TEST_SUITE_P(Means, ProcessExecutorTest,
                         ::testing::Values(LimitMeans::cgroup2, LimitMeans::subreaper), means_name);

TEST_P(ProcessExecutorTest, ReportsStartAndEndOfAProgramThatSucceeds) {
  const auto end = run(script(1, "echo fine; echo odd >&2"));
  ASSERT_EQ(host_.news.size(), 2u);
  EXPECT_EQ(host_.news[0].what, "started");
  EXPECT_EQ(end.what, "finished");
  EXPECT_EQ(end.attempt, 1u);
  EXPECT_EQ(end.end.exit_code, 0);
  EXPECT_EQ(end.end.out_tail, "fine\n");
  EXPECT_EQ(end.end.err_tail, "odd\n");
}

TEST_P(ProcessExecutorTest, AnExitCodeOtherThanZeroIsAFailure) {
  const auto end = run(script(1, "exit 3"));
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.reason, "exit code 3");
  EXPECT_EQ(end.end.exit_code, 3);
  EXPECT_EQ(end.end.failure, FailureKind::exit_code);
}

TEST_P(ProcessExecutorTest, TheCheckpointCodeWithoutAStopIsAFailure) {
  EXPECT_EQ(run(script(1, "exit 85")).reason, "exit code 85");
}

TEST_P(ProcessExecutorTest, ASignalThatEndsAProgramIsNamed) {
  const auto end = run(script(1, "kill -9 $$"));
  EXPECT_EQ(end.reason, "killed by signal 9");
  EXPECT_EQ(end.end.failure, FailureKind::signal);
  EXPECT_EQ(end.end.exit_code, 137);
}

TEST_P(ProcessExecutorTest, AMissingProgramNeverStarts) {
  TaskOrder execution = script(1, "");
  execution.program.argv = {"/nowhere/x"};
  const auto end = run(execution);
  EXPECT_EQ(host_.news.size(), 1u);
  EXPECT_EQ(end.what, "failed");
  EXPECT_THAT(end.reason, AllOf(HasSubstr("/nowhere/x"), IsGolden()));
  EXPECT_EQ(end.end.failure, FailureKind::cannot_start);
}

TEST_P(ProcessExecutorTest, AMissingWorkFolderIsNamed) {
  TaskOrder execution = script(1, "true");
  execution.program.work_dir = "/nowhere/y";
  const auto end = run(execution);
  EXPECT_THAT(end.reason, AllOf(HasSubstr("/nowhere/y"), IsGolden()));
  EXPECT_EQ(end.end.failure, FailureKind::cannot_start);
}

TEST_P(ProcessExecutorTest, AJobWithoutAProgramFails) {
  TaskOrder execution = script(1, "");
  execution.program.argv.clear();
  const auto end = run(execution);
  EXPECT_EQ(end.end.failure, FailureKind::cannot_start);
  EXPECT_THAT(end.reason, IsGolden());
}

TEST_P(ProcessExecutorTest, AShimThatCannotBeStartedFailsTheAttempt) {
  options_.shim_program = "/nowhere/shim";
  const auto end = run(script(1, "true"));
  EXPECT_THAT(end.reason, AllOf(HasSubstr("/nowhere/shim"), IsGolden()));
  EXPECT_EQ(end.end.failure, FailureKind::lost) << "that is no fault of the program";
}

TEST_P(ProcessExecutorTest, ATaskSeesOnlyItsOwnEnvironment) {
  setenv("MUSTER_TEST_SECRET", "of the worker", 1);
  TaskOrder execution = script(5, "env | grep -v ^SHLVL | sort; pwd", 4);
  execution.task.array_index = 12;
  execution.task_count = 20;
  execution.granted = Resources::of(2, 2.5, 1);
  execution.program.env = {{"COLOUR", "deep blue"}, {"LANG", "xx"}, {"MUSTER_ATTEMPT", "99"}};
  const std::string out = run(execution).end.out_tail;
  const std::string folder = file("state/attempts/5.4");
  const passwd* own = getpwuid(geteuid());
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(out, "COLOUR=deep blue\nCUDA_VISIBLE_DEVICES=0,1\nHOME=" + std::string(getenv("HOME")) +
                     "\nLANG=xx\nLOGNAME=" + own->pw_name +
                     "\nMUSTER_ATTEMPT=4\nMUSTER_ATTEMPT_DIR=" + folder +
                     "\nMUSTER_CHECKPOINT_DIR=" + file("checkpoints/7/12") +
                     "\nMUSTER_CPUS=2\nMUSTER_JOB_ID=7\nMUSTER_SOCKET=" + folder +
                     "/socket\nMUSTER_TASK_COUNT=20\nMUSTER_TASK_INDEX=12\n"
                     "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nPWD=" +
                     folder + "/work\nSHELL=" + own->pw_shell + "\nUSER=" + own->pw_name + "\n" +
                     folder + "/work\n");
}

TEST_P(ProcessExecutorTest, ATaskHasNoDescriptorButItsStreams) {
  const auto end = run(script(1, "ls /proc/self/fd | tr '\\n' ' '"));
  EXPECT_EQ(end.end.out_tail, "0 1 2 3 ");  // 3: ls's own, of the folder that it lists
}

TEST_P(ProcessExecutorTest, ATaskRunsInItsWorkFolderAndCannotDumpCore) {
  TaskOrder execution = script(1, "pwd; ulimit -c; grep NoNewPrivs /proc/self/status");
  execution.program.work_dir = files_.folder().string();
  EXPECT_EQ(run(execution).end.out_tail, files_.folder().string() + "\n0\nNoNewPrivs:\t1\n");
}

TEST_P(ProcessExecutorTest, DevicesAreSharedOutAmongTheAttempts) {
  make();
  const auto hold = [&](std::uint64_t task, double gpus) {
    TaskOrder execution = script(task, "echo $CUDA_VISIBLE_DEVICES; sleep 100");
    execution.granted = Resources::of(gpus, 1, 1);
    executor_->start(execution);
    EXPECT_TRUE(host_.run_until([&] {
      return executor_->read_log({TaskId{task}, 1, false, 0, 100}).text.ends_with("\n");
    }));
  };
  const auto devices = [&](std::uint64_t task) {
    executor_->stop(TaskId{task}, 1);
    return end_of(TaskId{task}).end.out_tail;
  };
  hold(1, 1);
  hold(2, 0.5);
  hold(3, 0.5);
  hold(4, 2);
  EXPECT_EQ(devices(1), "0\n");
  EXPECT_EQ(devices(3), "1\n");
  hold(5, 2);
  EXPECT_EQ(devices(2), "1\n");
  EXPECT_EQ(devices(4), "2,3\n");
  EXPECT_EQ(devices(5), "0,4\n");
}

TEST_P(ProcessExecutorTest, TheTimeLimitEndsAnAttempt) {
  TaskOrder execution = script(1, "trap 'echo told; exit 0' TERM; while :; do sleep 0.01; done");
  execution.program.time_limit = std::chrono::seconds{2};
  const auto end = run(execution);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.reason, "time limit of 2 s reached");
  EXPECT_EQ(end.end.out_tail, "told\n");
}

TEST_P(ProcessExecutorTest, WhoDoesNotHeedTheTimeLimitIsKilled) {
  TaskOrder execution = script(1, "trap '' TERM; while :; do sleep 0.01; done");
  execution.program.time_limit = std::chrono::seconds{2};
  execution.program.stop_grace = std::chrono::milliseconds{100};
  const auto end = run(execution);
  EXPECT_EQ(end.reason, "time limit of 2 s reached");
  EXPECT_EQ(end.end.exit_code, 137);
}

TEST_P(ProcessExecutorTest, AStoppedAttemptThatSavedACheckpointLeaves) {
  make();
  executor_->start(script(1,
                          "trap 'echo half > $MUSTER_CHECKPOINT_DIR/state; exit 85' TERM;"
                          "echo ready; while :; do sleep 0.01; done"));
  ASSERT_TRUE(host_.run_until([&] {
    return executor_->read_log({TaskId{1}, 1, false, 0, 100}).text == "ready\n";
  }));
  executor_->stop(TaskId{1}, 1);
  executor_->stop(TaskId{1}, 1);
  const auto end = end_of(TaskId{1});
  EXPECT_EQ(end.what, "left");
  EXPECT_EQ(end.end.exit_code, 85);
  const auto next = run(script(1, "cat $MUSTER_CHECKPOINT_DIR/state", 2));
  EXPECT_EQ(next.end.out_tail, "half\n");
}

TEST_P(ProcessExecutorTest, AStoppedAttemptThatKnowsNothingOfCheckpointsLeaves) {
  make();
  executor_->start(script(1, "sleep 100"));
  ASSERT_TRUE(started(1));
  executor_->stop(TaskId{1}, 1);
  const auto end = end_of(TaskId{1});
  EXPECT_EQ(end.what, "left");
  EXPECT_EQ(end.end.exit_code, 143);
}

TEST_P(ProcessExecutorTest, AnAttemptStoppedBeforeItRunsLeaves) {
  make();
  executor_->start(script(1, "sleep 100"));
  executor_->stop(TaskId{1}, 1);
  EXPECT_EQ(end_of(TaskId{1}).what, "left");
}

TEST_P(ProcessExecutorTest, WhoDoesNotHeedAStopIsKilledAfterTheGrace) {
  make();
  TaskOrder execution = script(1, "trap '' TERM; echo ready; while :; do sleep 0.01; done");
  execution.program.stop_grace = std::chrono::milliseconds{100};
  executor_->start(execution);
  ASSERT_TRUE(host_.run_until([&] {
    return executor_->read_log({TaskId{1}, 1, false, 0, 100}).text == "ready\n";
  }));
  executor_->stop(TaskId{1}, 1);
  const auto end = end_of(TaskId{1});
  EXPECT_EQ(end.what, "left");
  EXPECT_EQ(end.end.exit_code, 137);
}

TEST_P(ProcessExecutorTest, EverythingThatATaskStartedEndsWithIt) {
  const std::string daemons = "(sleep 100 & echo $! > " + file("child") + ");" +  //
                              "setsid sh -c 'setsid sleep 100 & echo $! > " + file("daemon") +
                              "; wait' & " + "while [ ! -s " + file("daemon") +
                              " ]; do sleep 0.01; done;";
  EXPECT_EQ(run(script(1, daemons + "exit 0")).what, "finished");
  EXPECT_TRUE(is_gone("child"));
  EXPECT_TRUE(is_gone("daemon"));
}

TEST_P(ProcessExecutorTest, EverythingThatAStoppedTaskStartedEndsWithIt) {
  make();
  executor_->start(script(1, "trap '' TERM; setsid sleep 100 & echo $! > " + file("daemon") +
                                 "; trap - TERM; touch " + file("ready") + "; sleep 100"));
  ASSERT_TRUE(wait_for_file("ready"));
  executor_->stop(TaskId{1}, 1);
  EXPECT_EQ(end_of(TaskId{1}).what, "left");
  EXPECT_TRUE(is_gone("daemon"));
}

TEST_P(ProcessExecutorTest, MoreMemoryThanGrantedEndsAnAttempt) {
  TaskOrder execution =
      script(1, "sh -c 'x=$(head -c 24000000 /dev/zero | tr \"\\0\" a); sleep 100'");
  execution.granted = Resources::of(0, 1, 10.0 / 1024);
  const auto end = run(execution);
  EXPECT_EQ(end.what, "failed");
  EXPECT_TRUE(end.reason.starts_with("out of memory: ")) << end.reason;
  EXPECT_TRUE(end.reason.ends_with(" MiB used, 10 MiB granted")) << end.reason;
}

TEST_P(ProcessExecutorTest, LogsRotateAndAreReadByTheirPlaceInTheStream) {
  options_.log_file_bytes = 1000;
  options_.log_files_kept = 2;
  const auto end = run(script(1, "i=1000; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done"));
  EXPECT_TRUE(end.end.out_tail.ends_with("1998\n1999\n"));
  EXPECT_EQ(end.end.out_bytes, 5000u);
  EXPECT_EQ(end.end.err_bytes, 0u);
  std::string text;
  LogPart part = executor_->read_log({TaskId{1}, 1, false, 0, 700});
  EXPECT_EQ(part.offset, 2000u);  // 5,000 bytes written; the newest file is full as well
  while (!part.text.empty()) {
    EXPECT_EQ(part.offset, 2000 + text.size());
    EXPECT_LE(part.text.size(), 700u);
    text += part.text;
    EXPECT_EQ(part.more_may_come, text.size() < 3000);
    part = executor_->read_log({TaskId{1}, 1, false, part.offset + part.text.size(), 700});
  }
  EXPECT_EQ(text.size(), 3000u);
  EXPECT_TRUE(text.starts_with("1400\n1401\n"));
  EXPECT_TRUE(text.ends_with("1999\n"));
  EXPECT_FALSE(part.more_may_come);
}

TEST_P(ProcessExecutorTest, FullFilesOfARunningAttemptAreSaid) {
  options_.log_file_bytes = 1000;
  make();
  executor_->start(script(1, "echo begun; while [ ! -e " + file("go") +
                                 " ]; do sleep 0.01; done; i=1000; while [ $i -lt 1500 ]; do "
                                 "echo $i; i=$((i+1)); done; sleep 100"));
  ASSERT_TRUE(host_.run_until([&] {
    return executor_->read_log({TaskId{1}, 1, false, 0, 100}).text == "begun\n";
  }));
  EXPECT_FALSE(host_.filled.contains(TaskId{1}));
  std::ofstream(file("go")) << "!";
  ASSERT_TRUE(host_.run_until([&] { return host_.filled[TaskId{1}].out_bytes == 2000; }));
  EXPECT_EQ(host_.filled[TaskId{1}].attempt, 1U);
  EXPECT_EQ(host_.filled[TaskId{1}].err_bytes, 0U);
  host_.filled.clear();
  executor_->repeat_reports();
  EXPECT_EQ(host_.filled[TaskId{1}].out_bytes, 2000U);
}

TEST_P(ProcessExecutorTest, TheLogOfARunningAttemptGrows) {
  make();
  executor_->start(
      script(1, "echo one; while [ ! -e " + file("go") + " ]; do sleep 0.01; done; echo two"));
  ASSERT_TRUE(host_.run_until([&] {
    return executor_->read_log({TaskId{1}, 1, false, 0, 100}).text == "one\n";
  }));
  EXPECT_TRUE(executor_->read_log({TaskId{1}, 1, false, 4, 100}).more_may_come);
  std::ofstream(file("go")) << "!";
  end_of(TaskId{1});
  const LogPart rest = executor_->read_log({TaskId{1}, 1, false, 4, 100});
  EXPECT_EQ(rest.text, "two\n");
  EXPECT_FALSE(rest.more_may_come);
  EXPECT_EQ(rest.end, 8u);
  EXPECT_TRUE(rest.known);
}

TEST_P(ProcessExecutorTest, OfAnAttemptThatIsNotHereItSaysSo) {
  make();
  EXPECT_FALSE(executor_->read_log({TaskId{77}, 1, false, 0, 100}).known);
}

TEST_P(ProcessExecutorTest, ARepeatedStartChangesNothing) {
  const TaskOrder execution = script(1, "echo once >> " + file("runs"));
  run(execution);
  executor_->start(execution);
  run(script(2, "true"));
  EXPECT_EQ(content_of(file("runs")), "once\n");
  EXPECT_EQ(host_.count("finished"), 2u);
}

TEST_P(ProcessExecutorTest, ASettledAttemptGoesAfterAWhile) {
  options_.acknowledged_keep = std::chrono::milliseconds{1};
  run(script(1, "true"));
  EXPECT_TRUE(std::filesystem::exists(file("state/attempts/1.1")));
  executor_->acknowledged(TaskId{1}, 1);
  EXPECT_TRUE(
      host_.run_until([&] { return !std::filesystem::exists(file("state/attempts/1.1")); }));
}

TEST_P(ProcessExecutorTest, OnlySoManySettledAttemptsAreKept) {
  options_.max_acknowledged = 1;
  run(script(1, "true"));
  run(script(2, "true"));
  executor_->acknowledged(TaskId{1}, 1);
  executor_->acknowledged(TaskId{2}, 1);
  EXPECT_TRUE(
      host_.run_until([&] { return !std::filesystem::exists(file("state/attempts/1.1")); }));
  EXPECT_TRUE(std::filesystem::exists(file("state/attempts/2.1")));
}

TEST_P(ProcessExecutorTest, RunsAHundredAttemptsAtOnce) {
  make();
  for (std::uint64_t task = 0; task < 100; ++task) {
    TaskOrder execution = script(task, "");
    execution.program.argv = {"/bin/true"};
    executor_->start(execution);
  }
  EXPECT_TRUE(host_.run_until([&] { return host_.count("finished") == 100; }));
  EXPECT_EQ(host_.count("started"), 100u);
  EXPECT_EQ(host_.news.size(), 200u);
}

TEST_P(ProcessExecutorTest, SaysWhichMeansItHas) {
  make();
  const std::string means = executor_->limits();
  if (GetParam() == LimitMeans::subreaper) {
    EXPECT_THAT(means, AllOf(StartsWith("subreaper"), IsGolden()));
  } else {
    EXPECT_TRUE(means == "cgroup2" ||
                means == "cgroup2-kill + memory watch, processors by affinity" ||
                means == "subreaper + memory watch, processors by affinity")
        << means;
  }
}

TEST_P(ProcessExecutorTest, ATaskIsInAGroupOfItsOwnWhereTheMeansSaySo) {
  const auto end = run(script(6, "cat /proc/self/cgroup", 2));
  const bool grouped = executor_->limits().starts_with("cgroup2");
  EXPECT_EQ(end.end.out_tail.find("/6.2\n") != std::string::npos, grouped) << end.end.out_tail;
}

TEST_P(ProcessExecutorTest, TasksOfAnotherUserCannotReadWhatIsTheWorkers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can run tasks as another user";
  options_.task_uid = 65534;
  make();
  std::ofstream(file("key")) << "secret";
  chmod(file("key").c_str(), 0600);
  chmod(files_.folder().c_str(), 0711);
  const auto end = run(script(1, "id -u; id -G; cat " + file("key") +
                                     "; cat ../order; pwd > here;"
                                     "echo saved > $MUSTER_CHECKPOINT_DIR/state; cat here"));
  EXPECT_EQ(end.end.out_tail, "65534\n65534\n" + file("state/attempts/1.1/work") + "\n");
  EXPECT_EQ(content_of(file("checkpoints/7/0/state")), "saved\n");
  const std::string& complaints = end.end.err_tail;
  const std::size_t first = complaints.find("Permission denied");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(complaints.find("Permission denied", first + 1), std::string::npos);
}

TEST_P(ProcessExecutorTest, AWorkFolderThatTheWorkerCannotGiveIsNoFaultOfTheProgram) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can run tasks as another user";
  options_.task_uid = 65534;
  make();
  chmod(files_.folder().c_str(), 0700);
  const auto barred = run(script(1, "true"));
  EXPECT_EQ(barred.end.failure, FailureKind::lost) << barred.reason;
  auto named = script(2, "true");
  named.program.work_dir = file("nowhere");
  EXPECT_EQ(run(named).end.failure, FailureKind::cannot_start) << "the job has named that one";
}

}  // namespace
}  // namespace muster

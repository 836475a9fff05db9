#include "workers/process/shim/shim_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "tests/support/process_host.hpp"
#include "workers/process/limits/cpu_shares.hpp"

namespace muster::process {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

Order order_of_job_7() {
  Order order;
  order.job = JobId{7};
  order.task.id = TaskId{9};
  order.task.array_index = 2;
  order.attempt = 3;
  order.task_count = 4;
  order.granted = Resources::of(1, 2, 1);
  order.worker.gpus = "1";
  order.worker.checkpoint_dir = "/c/7/2";
  order.worker.memory_interval = kLeastMemoryInterval;
  return order;
}

TaskPlace place() {
  return {"/work", "/a/9.3/socket", "/h/w", "/a/9.3", ""};
}

TEST(TaskEnvironment, IsMinimalAndSaysWhereTheTaskIs) {
  EXPECT_THAT(
      environment_of(order_of_job_7(), place()),
      ElementsAre("CUDA_VISIBLE_DEVICES=1", "HOME=/h/w", "LANG=C.UTF-8", "MUSTER_ATTEMPT=3",
                  "MUSTER_ATTEMPT_DIR=/a/9.3", "MUSTER_CHECKPOINT_DIR=/c/7/2", "MUSTER_CPUS=2",
                  "MUSTER_JOB_ID=7", "MUSTER_SOCKET=/a/9.3/socket", "MUSTER_TASK_COUNT=4",
                  "MUSTER_TASK_INDEX=2", StartsWith("PATH=/usr/local/sbin:")));
}

TEST(TaskEnvironment, HasTheAccountWhereThereIsOne) {
  Order order = order_of_job_7();
  order.worker.login = "ann";
  order.worker.shell = "/bin/zsh";
  order.user = "ann@x";
  const auto entries = environment_of(order, place());
  for (const char* entry : {"USER=ann", "LOGNAME=ann", "SHELL=/bin/zsh", "MUSTER_USER=ann@x"}) {
    EXPECT_THAT(entries, Contains(entry));
  }
}

TEST(TaskEnvironment, IsTheJobsToChangeButForWhatMusterSays) {
  Order order = order_of_job_7();
  order.worker.login = "ann";
  order.program.env = {{"PATH", "/mine"}, {"USER", "bob"}, {"MUSTER_JOB_ID", "1"}, {"EMPTY", ""}};
  const auto entries = environment_of(order, place());
  EXPECT_THAT(entries, Contains("PATH=/mine"));
  EXPECT_THAT(entries, Contains("USER=bob"));
  EXPECT_THAT(entries, Contains("MUSTER_JOB_ID=7"));
  EXPECT_THAT(entries, Contains("EMPTY="));
  EXPECT_THAT(entries, Not(Contains("MUSTER_JOB_ID=1")));
}

TEST(TaskEnvironment, CountsWholeProcessorsAndAtLeastOne) {
  const std::pair<double, const char*> counts[] = {{0, "1"},   {0.5, "1"},         {1, "1"},
                                                   {1.9, "1"}, {2 - 1e-12, "2"},   {2.5, "2"},
                                                   {64, "64"}, {64.0 - 1e-3, "63"}};
  for (const auto& [granted, said] : counts) {
    Order order = order_of_job_7();
    order.granted[Resource::cpu] = granted;
    EXPECT_THAT(environment_of(order, place()), Contains(std::string("MUSTER_CPUS=") + said))
        << granted;
  }
}

/// Starts tasks without a shim.
class ForkedTaskTest : public ::testing::Test {
 protected:
  ForkedTaskTest() {
    place_.work_dir = files_.folder().string();
    place_.attempt_dir = files_.folder().string();
    order_.worker.gpus.clear();
  }
  /// The words of a task, by both streams, until its end; the status of that is kept.
  std::string run(const std::string& text) {
    order_.program.argv = {"/bin/sh", "-c", text};
    auto task = fork_task(order_, place_, -1);
    if (!task) return "(no task)";
    std::string said = all_of(task->out) + all_of(task->err);
    EXPECT_EQ(waitpid(task->pid, &status_, 0), task->pid);
    news_ = all_of(task->news);
    return said;
  }
  static std::string all_of(const Descriptor& from) {
    std::string text;
    char chunk[4096];
    while (true) {
      const ssize_t got = read(from.get(), chunk, sizeof chunk);
      if (got == 0) return text;
      if (got > 0) text.append(chunk, static_cast<std::size_t>(got));
      pollfd polled{from.get(), POLLIN, 0};
      if (got < 0 && poll(&polled, 1, 60'000) != 1) return text + "(nothing)";
    }
  }

  test::TempFile files_{"kept", ""};
  Order order_ = order_of_job_7();
  TaskPlace place_ = place();
  int status_ = 0;
  std::string news_;
};

TEST_F(ForkedTaskTest, RunsInItsFolderWithoutInputAndSaysNothingOfItsStart) {
  EXPECT_EQ(run("cat; pwd; umask; echo e >&2; exit 3"), files_.folder().string() + "\n0022\ne\n");
  EXPECT_EQ(WEXITSTATUS(status_), 3);
  EXPECT_EQ(news_, "");
}

TEST_F(ForkedTaskTest, LeadsASessionOfItsOwnAndGoesBeforeItsShimWhereMemoryIsShort) {
  EXPECT_EQ(run("set -- $(cat /proc/$$/stat); [ $5 = $$ ] && [ $6 = $$ ] && echo leads;"
                "cat /proc/$$/oom_score_adj"),
            "leads\n500\n");
}

TEST_F(ForkedTaskTest, IgnoresAndBlocksNoSignalThatItsShimDoes) {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before {};
  sigaction(SIGUSR1, &ignored, &before);
  sigset_t blocked;
  sigset_t mask;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, &mask);
  const std::string said = run("grep -E 'Sig(Blk|Ign)' /proc/self/status");
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(said, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(ForkedTaskTest, HasTheNicenessAndTheProcessorsOfItsOrder) {
  EXPECT_EQ(run("nice"), std::to_string(getpriority(PRIO_PROCESS, 0)) + "\n");
  order_.worker.nice = 19;
  const std::uint32_t cpu = own_cpus().back();
  order_.worker.cpus = {cpu};
  EXPECT_EQ(run("nice; grep Cpus_allowed_list /proc/self/status"),
            "19\nCpus_allowed_list:\t" + std::to_string(cpu) + "\n");
}

TEST_F(ForkedTaskTest, OfAnAccountOfItsOwnIsHeldToItsProcesses) {
  order_.worker.max_processes = 50;
  EXPECT_NE(run("ulimit -Hp"), "50\n") << "others run as this user, too";
  order_.worker.own_user = true;
  EXPECT_EQ(run("ulimit -Sp; ulimit -Hp"), "50\n50\n");
  order_.worker.max_processes = 0;
  EXPECT_NE(run("ulimit -Hp"), "0\n") << "there is no such limit";
}

TEST_F(ForkedTaskTest, GainsNoRightsByWhatItExecutes) {
  EXPECT_EQ(run("grep NoNewPrivs /proc/self/status"), "NoNewPrivs:\t1\n");
}

TEST_F(ForkedTaskTest, ThatCannotStartSaysHowFarItCame) {
  place_.work_dir = "/no/such/folder";
  EXPECT_EQ(run("true"), "");
  EXPECT_EQ(WEXITSTATUS(status_), 127);
  ASSERT_EQ(news_.size(), sizeof(StartTrouble));
  StartTrouble trouble;
  std::memcpy(&trouble, news_.data(), sizeof trouble);
  EXPECT_EQ(trouble.stage, StartStage::work_dir);
  EXPECT_EQ(trouble.error, ENOENT);
}

TEST_F(ForkedTaskTest, OfAScriptIsReadByWhatItsFirstLineNamesWhereItMustNotBeExecuted) {
  const std::string file = (files_.folder() / "script").string();
  place_.script = file;
  const auto run_script = [&](const std::string& text) {
    std::filesystem::remove(file);
    std::ofstream(file) << text;
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    order_.program.script = text;
    order_.program.argv = {"s", "x y"};
    auto task = fork_task(order_, place_, -1);
    const std::string said = all_of(task->out) + all_of(task->err);
    EXPECT_EQ(waitpid(task->pid, &status_, 0), task->pid);
    return said;
  };
  EXPECT_EQ(run_script("#!/bin/echo\n"), file + " x y\n");
  EXPECT_EQ(run_script("#! \t/bin/echo  -n -e \t\nrest"), "-n -e " + file + " x y\n")
      << "the rest of the line is one argument, without the blanks around";
  EXPECT_EQ(run_script("echo by $1\n"), "by x y\n") << "a shell's";
  EXPECT_EQ(run_script("#!\necho by $1\n"), "by x y\n");
  EXPECT_EQ(run_script("#!/bin/echo"), file + " x y\n");
}

}  // namespace
}  // namespace muster::process

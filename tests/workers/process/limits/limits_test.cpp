#include "workers/process/limits/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/support/process_host.hpp"

// A group is a folder of files: where the kernel's are not to be had, plain ones show what is
// written to them, and say what the kernel would.

namespace muster::process {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

class TaskGroupTest : public ::testing::Test {
 protected:
  TaskGroupTest() {
    for (const char* name : {"memory.max", "memory.swap.max", "memory.oom.group", "cpu.max",
                             "pids.max", "cgroup.kill", "cgroup.procs"}) {
      file(name, "");
    }
    order_.worker.group = files_.folder().string();
    order_.worker.means = LimitMeans::cgroup2;
  }
  void file(const std::string& name, const std::string& content) {
    std::ofstream(files_.folder() / name) << content;
  }
  std::string said(const std::string& name) { return content_of(files_.folder() / name); }
  void grant(double cpu, double memory) { order_.granted = Resources::of(0, cpu, memory); }
  bool make() { return TaskGroup::make(order_).has_value(); }
  TaskGroup group() { return *TaskGroup::find(files_.folder().string()); }

  test::TempFile files_{"kept", ""};
  Order order_;
};

TEST_F(TaskGroupTest, HasTheLimitsOfItsOrder) {
  grant(1.5, 2);
  order_.worker.max_processes = 16;
  ASSERT_TRUE(make());
  EXPECT_EQ(said("memory.max"), "2147483648");
  EXPECT_EQ(said("memory.swap.max"), "0");
  EXPECT_EQ(said("memory.oom.group"), "1");
  EXPECT_EQ(said("cpu.max"), "150000 100000");
  EXPECT_EQ(said("pids.max"), "16");
}

TEST_F(TaskGroupTest, IsLeftWithoutALimitOnWhatIsNotGranted) {
  ASSERT_TRUE(make());
  for (const char* name : {"memory.max", "memory.swap.max", "memory.oom.group", "cpu.max"}) {
    EXPECT_EQ(said(name), "") << name;
  }
  EXPECT_EQ(said("pids.max"), "");
}

TEST_F(TaskGroupTest, GivesALeastQuotaThatTheKernelTakes) {
  grant(0.001, 1);
  ASSERT_TRUE(make());
  EXPECT_EQ(said("cpu.max"), "1000 100000");
}

TEST_F(TaskGroupTest, OfOtherMeansHasNoLimits) {
  order_.worker.means = LimitMeans::cgroup2_kill;
  grant(1, 1);
  order_.worker.max_processes = 16;
  ASSERT_TRUE(make());
  EXPECT_EQ(said("memory.max") + said("cpu.max") + said("pids.max"), "");
}

TEST_F(TaskGroupTest, IsNotMadeWhereTheKernelTakesOneOfItsLimitsNot) {
  grant(1, 1);
  order_.worker.max_processes = 16;
  for (const char* name : {"memory.max", "memory.oom.group", "cpu.max", "pids.max"}) {
    fs::remove(files_.folder() / name);
    errno = 0;
    EXPECT_FALSE(make()) << name;
    EXPECT_EQ(errno, ENOENT) << name << ": the reason is that of the limit";
    file(name, "");
  }
  fs::remove(files_.folder() / "memory.swap.max");
  EXPECT_TRUE(make()) << "some kernels count no swap";
}

TEST_F(TaskGroupTest, IsMadeWhereItIsMissingAndGoesAgain) {
  const fs::path fresh = files_.folder() / "fresh";
  order_.worker.group = fresh.string();
  order_.worker.means = LimitMeans::cgroup2_kill;
  auto made = TaskGroup::make(order_);
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(fs::is_directory(fresh));
  made->remove();
  EXPECT_FALSE(fs::exists(fresh));
  order_.worker.group = (files_.folder() / "no" / "way").string();
  EXPECT_FALSE(make());
  EXPECT_EQ(errno, ENOENT);
  order_.worker.group = fresh.string();
  order_.worker.means = LimitMeans::cgroup2;
  grant(1, 1);
  EXPECT_FALSE(make()) << "a plain folder takes no limits";
  EXPECT_FALSE(fs::exists(fresh)) << "nothing of it stays";
}

TEST_F(TaskGroupTest, SaysWhoIsInItAndIsKilledAsAWhole) {
  EXPECT_THAT(group().members(), IsEmpty());
  file("cgroup.procs", "12\n7\n4000000\n");
  EXPECT_THAT(group().members(), ElementsAre(12, 7, 4'000'000));
  group().kill_all();
  EXPECT_EQ(said("cgroup.kill"), "1");
}

TEST_F(TaskGroupTest, KnowsWhetherTheKernelKilledInItForMemory) {
  EXPECT_FALSE(group().killed_for_memory()) << "the kernel does not say";
  file("memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 0\noom_group_kill 0\n");
  EXPECT_FALSE(group().killed_for_memory());
  file("memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 1\noom_group_kill 0\n");
  EXPECT_TRUE(group().killed_for_memory());
}

TEST_F(TaskGroupTest, KnowsItsHighestMemoryWhereTheKernelDoes) {
  EXPECT_EQ(group().peak_bytes(), 0u);
  file("memory.peak", "1234567890123\n");
  EXPECT_EQ(group().peak_bytes(), 1'234'567'890'123u);
}

TEST_F(TaskGroupTest, IsNotFoundWhereNoFolderIs) {
  EXPECT_FALSE(TaskGroup::find((files_.folder() / "none").string()).has_value());
}

/// Does the work in a process of its own, as it would be of consequence for the test's; its exit
/// code, or -1.
template <class Work>
int in_child(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A process that sleeps, with one variable in its environment.
pid_t sleeper(std::string variable = "A=b") {
  const char* argv[] = {"sleep", "100", nullptr};
  char* env[] = {variable.data(), nullptr};
  pid_t pid = -1;
  posix_spawn(&pid, "/bin/sleep", nullptr, nullptr, const_cast<char**>(argv), env);
  return pid;
}

/// Ends a child and says by which signal it had ended before, if it had: 0.
int signal_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) == child) return WTERMSIG(status);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return 0;
}

TEST(ProcessTree, HasAllThatIsBelowAProcessAndNotItself) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t below = sleeper();
    [[maybe_unused]] const ssize_t put = write(ends[1], &below, sizeof below);
    while (true) pause();
  }
  pid_t below = 0;
  ASSERT_EQ(read(ends[0], &below, sizeof below), static_cast<ssize_t>(sizeof below));
  EXPECT_THAT(descendants_of(getpid()), IsSupersetOf({child, below}));
  EXPECT_THAT(descendants_of(child), ElementsAre(below));
  EXPECT_THAT(descendants_of(below), IsEmpty());
  kill(below, SIGKILL);
  signal_of(child);
  close(ends[0]);
  close(ends[1]);
}

TEST(ProcessTree, HoldsTheMemoryThatItsProcessesHaveTouched) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const std::uint64_t before = resident_bytes({getpid()});
  EXPECT_GT(before, std::uint64_t{1} << 20);
  void* room = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  EXPECT_LT(resident_bytes({getpid()}), before + kBytes / 2) << "what is reserved is not held";
  std::memset(room, 1, kBytes);
  const std::uint64_t after = resident_bytes({getpid()});
  EXPECT_GE(after, before + kBytes / 2);
  EXPECT_GE(resident_bytes({getpid(), getpid()}), 2 * (before + kBytes / 2));
  munmap(room, kBytes);
  EXPECT_EQ(resident_bytes({}), 0u);
  EXPECT_EQ(resident_bytes({-1}), 0u) << "who is gone holds nothing";
}

TEST(ProcessTree, IsKilledAndReapedAsAWhole) {
  EXPECT_EQ(in_child([] {
              prctl(PR_SET_CHILD_SUBREAPER, 1);
              const pid_t child = fork();
              if (child == 0) {
                setsid();
                sleeper();
                sleeper();
                while (true) pause();
              }
              sleeper();
              kill_descendants();
              const bool gone = waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
              return gone && descendants_of(getpid()).empty() ? 7 : 1;
            }),
            7);
}

TEST(ProcessTree, TakesOrphansInOnlyWhereAProcessSaysSo) {
  EXPECT_EQ(in_child([] {
              const bool before = takes_orphans_in();
              prctl(PR_SET_CHILD_SUBREAPER, 1);
              return !before && takes_orphans_in() ? 7 : 1;
            }),
            7);
}

TEST(ProcessTree, OfStraysGoesWithoutTheProcessesOwn) {
  EXPECT_EQ(in_child([] {
              prctl(PR_SET_CHILD_SUBREAPER, 1);
              const pid_t own = sleeper();
              const pid_t stray = fork();
              if (stray == 0) {
                sleeper();
                while (true) pause();
              }
              kill_strays({own});
              const std::vector<pid_t> left = descendants_of(getpid());
              const bool only_own = left.size() == 1 && left[0] == own;
              return only_own && signal_of(own) == 0 ? 7 : 1;
            }),
            7);
}

TEST(ProcessTree, AProcessThatEndsIsReapedByWhoAwaitsIt) {
  const pid_t child = fork();
  if (child == 0) _exit(3);
  await_end(child);
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  await_end(-1);
}

TEST(MarkedProcesses, AreKilledByTheWholeEntryOfTheirEnvironment) {
  const pid_t marked = sleeper("MUSTER_ATTEMPT_DIR=/a/1.1");
  const pid_t longer = sleeper("MUSTER_ATTEMPT_DIR=/a/1.11");
  const pid_t behind = sleeper("X_MUSTER_ATTEMPT_DIR=/a/1.1");
  kill_marked("MUSTER_ATTEMPT_DIR=/a/1.1");
  int status = 0;
  EXPECT_EQ(waitpid(marked, &status, 0), marked);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(signal_of(longer), 0);
  EXPECT_EQ(signal_of(behind), 0);
}

int code_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WEXITSTATUS(status);
}

TEST(NewProcess, DoesWhatItIsMadeFor) {
  int number = 5;
  const auto run = [](const void* with) { _exit(*static_cast<const int*>(with)); };
  EXPECT_EQ(code_of(fork_into(-1, run, &number)), 5);
  EXPECT_EQ(code_of(share_into(-1, run, &number)), 5);
}

TEST(NewProcess, ThatSharesTheMemoryHasDoneItsWorkBeforeTheOtherGoesOn) {
#if !defined(__x86_64__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "here it gets a copy";
#endif
  volatile int number = 5;
  const auto run = [](const void* with) {
    *static_cast<volatile int*>(const_cast<void*>(with)) = 6;
    _exit(0);
  };
  const pid_t copy = fork_into(-1, run, const_cast<const int*>(&number));
  EXPECT_EQ(code_of(copy), 0);
  EXPECT_EQ(number, 5);
  const pid_t shares = share_into(-1, run, const_cast<const int*>(&number));
  EXPECT_EQ(number, 6);
  EXPECT_EQ(code_of(shares), 0);
}

TEST(NewProcess, IsNotMadeInAGroupThatIsNone) {
  const Descriptor folder = open_folder("/");
  const auto run = [](const void*) { _exit(0); };
  EXPECT_EQ(fork_into(folder.get(), run, nullptr), -1);
  EXPECT_EQ(share_into(folder.get(), run, nullptr), -1);
}

}  // namespace
}  // namespace muster::process

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

#include "tests/support/golden.hpp"
#include "tests/support/process_host.hpp"
#include "workers/process/descriptor.hpp"
#include "workers/process/limits/cpu_shares.hpp"
#include "workers/process/limits/namespaces.hpp"
#include "workers/process/limits/task_users.hpp"
#include "workers/process/shim/line_server.hpp"

// What keeps the tasks of users apart from each other and from the cluster.

namespace muster {
namespace {

using process::Accounts;
using process::AttemptKey;
using process::CpuShares;
using process::LimitMeans;
using process::TaskAccount;
using process::TaskUserError;
using process::TaskUsers;
using test::content_of;
using test::IsGolden;
using test::ProcessHost;
using test::script;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

constexpr std::uint32_t kNobody = 65534;

AttemptKey attempt(std::uint64_t task) {
  return {TaskId{task}, 1};
}

/// A system on which ann has an account.
Accounts with_ann() {
  return {[](const std::string& name) -> std::optional<TaskAccount> {
            if (name != "ann") return std::nullopt;
            return TaskAccount{300'001, 300'002, {300'002, 300'003}, "/srv/ann"};
          },
          [](std::uint32_t uid) { return uid == 300'001; }};
}

class TaskUsersTest : public ::testing::Test {
 protected:
  TaskUsers users(UidRange range = {300'000, 300'003}) {
    return {range, files_.path(), with_ann()};
  }
  std::uint32_t uid(TaskUsers& of, const std::string& user) {
    return of.account_of(user).value().uid;
  }
  test::TempFile files_{"users", ""};
};

TEST_F(TaskUsersTest, WhoHasAnAccountRunsUnderItWithItsGroups) {
  TaskUsers all = users();
  EXPECT_EQ(all.account_of("ann").value(), with_ann().person("ann").value());
  EXPECT_EQ(content_of(files_.path()), "") << "no number is given away";
}

TEST_F(TaskUsersTest, OthersGetANumberEachThatNoAccountHas) {
  TaskUsers all = users();
  EXPECT_EQ(all.account_of("bob").value(), (TaskAccount{300'000, 300'000, {}, "", true, "bob"}));
  EXPECT_EQ(uid(all, "cleo"), 300'002u) << "300001 is ann's";
  EXPECT_EQ(uid(all, "bob"), 300'000u);
}

TEST_F(TaskUsersTest, RootIsANameLikeOthers) {
  TaskUsers all({300'000, 300'003}, files_.path());
  EXPECT_EQ(uid(all, "root"), 300'000u);
  EXPECT_EQ(uid(all, "nobody"), 300'001u) << "and so are the system's own accounts";
}

TEST_F(TaskUsersTest, ANameKeepsItsNumberInEveryProcess) {
  TaskUsers one = users();
  TaskUsers other = users();
  EXPECT_EQ(uid(one, "bob"), 300'000u);
  EXPECT_EQ(uid(other, "cleo"), 300'002u);
  EXPECT_EQ(uid(one, "cleo"), 300'002u);
  TaskUsers later = users({400'000, 400'009});
  EXPECT_EQ(uid(later, "bob"), 300'000u) << "also when the range is another one";
  EXPECT_EQ(uid(later, "dora"), 400'000u);
}

TEST_F(TaskUsersTest, NamesMayHaveAnyCharacters) {
  const std::string odd = "a b\n7 c%\xc3\xa4";
  TaskUsers all = users();
  EXPECT_EQ(uid(all, odd), 300'000u);
  EXPECT_EQ(uid(all, ""), 300'002u);
  TaskUsers later = users();
  EXPECT_EQ(later.known_account_of(odd).value()->uid, 300'000u);
  EXPECT_EQ(later.known_account_of("").value()->uid, 300'002u);
  EXPECT_EQ(later.known_account_of("7").value(), std::nullopt);
}

TEST_F(TaskUsersTest, WhenTheRangeIsUsedUpTheNextNameIsRefusedByName) {
  TaskUsers all = users({300'000, 300'001});
  EXPECT_EQ(uid(all, "bob"), 300'000u);
  const auto refused = all.account_of("cleo");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, TaskUserError::used_up);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("user cleo"), HasSubstr("300000 to 300001"),
                                             HasSubstr("worker.task_uids"), IsGolden()));
  EXPECT_EQ(uid(all, "bob"), 300'000u);
}

TEST_F(TaskUsersTest, ANumberThatAnAccountHasMeanwhileIsRefusedWithTheFile) {
  TaskUsers all = users();
  EXPECT_EQ(uid(all, "bob"), 300'000u);
  Accounts accounts = with_ann();
  accounts.has = [](std::uint32_t number) { return number == 300'000; };
  TaskUsers later({300'000, 300'003}, files_.path(), accounts);
  const auto refused = later.account_of("bob");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, TaskUserError::taken);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("300000"), HasSubstr("user bob"),
                                             HasSubstr(files_.path().string()), IsGolden()));
  EXPECT_EQ(uid(later, "cleo"), 300'001u) << "others get numbers as before";
}

TEST_F(TaskUsersTest, WhatWasReadLastIsKnownWithoutTheFile) {
  TaskUsers all = users();
  EXPECT_EQ(uid(all, "bob"), 300'000u);
  TaskUsers later = users();
  EXPECT_EQ(later.last_account_of("bob").value(), std::nullopt);
  later.catch_up();
  std::filesystem::remove(files_.path());
  EXPECT_EQ(later.last_account_of("bob").value()->uid, 300'000u);
}

TEST_F(TaskUsersTest, WhileTheSystemCannotSayWhoThereIsNobodyGetsANumber) {
  Accounts away = with_ann();
  away.person = [](const std::string&) -> process::FoundAccount {
    return Failure<int>{ECONNREFUSED, "Connection refused"};
  };
  TaskUsers all({300'000, 300'003}, files_.path(), away);
  const auto refused = all.account_of("ann");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, TaskUserError::unknown);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("user ann"), EndsWith("Connection refused"), IsGolden()));
  EXPECT_EQ(content_of(files_.path()), "") << "a number would be kept for good";
}

TEST(SystemAccounts, AreNamedWhereARangeHasOneOfTheirNumbers) {
  EXPECT_EQ(process::listed_account_in({0, 0}), "root (0)");
  EXPECT_EQ(process::listed_account_in({3'999'999'990, 3'999'999'999}), "");
}

TEST_F(TaskUsersTest, ALineThatWasCutGaveNothingAway) {
  std::ofstream(files_.path()) << "300000 bob\n300002 cl";
  TaskUsers all = users();
  EXPECT_EQ(all.known_account_of("cl").value(), std::nullopt);
  EXPECT_EQ(uid(all, "dora"), 300'002u);
  EXPECT_EQ(content_of(files_.path()), "300000 bob\n300002 dora\n");
}

TEST_F(TaskUsersTest, AFileThatIsSpoiltMakesNobodyRoot) {
  std::ofstream(files_.path()) << "0 bob\n-1 bob\nbob\n7\n";
  TaskUsers all = users();
  EXPECT_EQ(uid(all, "bob"), 300'000u);
}

TEST_F(TaskUsersTest, AFileThatCannotBeWrittenIsNamed) {
  TaskUsers all({300'000, 300'003}, files_.folder() / "gone" / "users", with_ann());
  const auto refused = all.account_of("bob");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, TaskUserError::file);
  EXPECT_NE(refused.error().message.find("gone/users: No such file"), std::string::npos);
}

TEST(UidRanges, AreTwoNumbersThatAreNeitherRootNorNobodyAtAll) {
  EXPECT_EQ(parse_uid_range("200000-265535"), (UidRange{200'000, 265'535}));
  EXPECT_EQ(parse_uid_range("7-7"), (UidRange{7, 7}));
  EXPECT_EQ(parse_uid_range("1-4294967294")->last, 4'294'967'294u);
  for (const char* wrong : {"", "7", "0-7", "7-6", "1-4294967295", "a-b", "1-2-3", "-5", "1.5-7"}) {
    EXPECT_EQ(parse_uid_range(wrong), std::nullopt) << wrong;
  }
}

TEST(CpuSharesTest, AnAttemptIsBoundToTheProcessorsThatTheFewestHave) {
  CpuShares shares({0, 1, 2, 3}, 0);
  using Cpus = std::vector<std::uint32_t>;
  EXPECT_EQ(shares.take(attempt(1), 1), (Cpus{0}));
  EXPECT_EQ(shares.take(attempt(2), 1.5), (Cpus{1, 2}));
  EXPECT_EQ(shares.take(attempt(3), 2), (Cpus{0, 3}));
  shares.give_back(attempt(2));
  EXPECT_EQ(shares.take(attempt(4), 2), (Cpus{1, 2}));
  EXPECT_EQ(shares.take(attempt(5), 4), Cpus{}) << "it may run on all";
  EXPECT_EQ(shares.take(attempt(6), 0), Cpus{});
  EXPECT_EQ(CpuShares({0, 1, 2, 3}, 6).take(attempt(1), 0.5), (Cpus{2}));
}

TEST(CpuSharesTest, WhatAnEarlierProcessHasBoundCounts) {
  CpuShares shares({0, 1}, 0);
  shares.keep(attempt(1), {0});
  EXPECT_EQ(shares.take(attempt(2), 1), (std::vector<std::uint32_t>{1}));
}

/// Of a process that is nobody and runs `check`; 77: it could not be tried.
int code_as_nobody(const std::function<int()>& check) {
  const pid_t pid = fork();
  if (pid == 0) {
    const bool other = geteuid() != 0 || (setresgid(kNobody, kNobody, kNobody) == 0 &&
                                          setresuid(kNobody, kNobody, kNobody) == 0);
    // The change of user has made its files in /proc root's, until a program is executed.
    prctl(PR_SET_DUMPABLE, 1);
    _exit(!other || !process::namespaces_fault().empty() ? 77 : check());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Namespaces, CoverWhatIsHiddenForGoodAndLeaveWhatIsKept) {
  const test::TempFile files("secret", "key");
  const std::string folder = files.folder().string();
  std::filesystem::create_directories(folder + "/a/mine");
  std::ofstream(folder + "/a/mine/file") << "mine";
  std::ofstream(folder + "/a/other") << "other";
  chmod(folder.c_str(), 0755);
  chmod((folder + "/a/mine").c_str(), 0777);
  // Everything that could show or uncover it again, as far as a task can try.
  const std::string tries =
      "cd " + folder +
      " && test ! -e secret -a ! -e a/other && test \"$(cat a/mine/file)\" = mine" +
      " && echo new >a/mine/new && ! echo x 2>/dev/null >x && ! umount " + folder +
      " 2>/dev/null && ! unshare -Um umount " + folder + " 2>/dev/null && test ! -e secret" +
      " && test $(id -u) = $(stat -c %u a/mine/new) && ! ls /proc/$PPID/root/ 2>/dev/null";
  const int code = code_as_nobody([&] {
    if (process::hide(
            process::sight_of({{folder}, {folder + "/a"}, {"/nowhere"}}, {folder + "/a/mine"}))) {
      return 2;
    }
    execl("/bin/sh", "sh", "-c", tries.c_str(), nullptr);
    return 3;
  });
  if (code == 77) GTEST_SKIP() << "this system lets nobody make namespaces";
  EXPECT_EQ(code, 0);
  EXPECT_EQ(content_of(folder + "/a/mine/new"), "new\n");
  EXPECT_EQ(content_of(folder + "/secret"), "key");
}

/// A folder of nobody's, and in it one that is to be hidden.
class Below : public ::testing::Test {
 protected:
  Below() {
    std::filesystem::create_directories(hidden_);
    std::ofstream(hidden_ + "/key") << "secret";
    chmod(files_.folder().c_str(), 0711);
    for (const std::string& folder : {above_, above_ + "/b", hidden_}) {
      chmod(folder.c_str(), 0755);
      if (geteuid() == 0) {
        EXPECT_EQ(chown(folder.c_str(), kNobody, kNobody), 0);
      }
    }
  }
  /// What a process says in which `places` are hidden; 77: it could not be tried.
  static int run(const std::vector<process::HiddenPlace>& places, const std::string& tries) {
    return code_as_nobody([&] {
      if (const int error = process::hide(process::sight_of(places, {}))) return error;
      execl("/bin/sh", "sh", "-c", tries.c_str(), nullptr);
      return 3;
    });
  }
  test::TempFile files_{"kept", ""};
  std::string above_ = (files_.folder() / "above").string();
  std::string hidden_ = above_ + "/b/hidden";
};

TEST_F(Below, NoFolderAboveWhatIsHiddenIsRenamedFromWithin) {
  const std::string decoy = "mkdir -p " + hidden_ + " && echo decoy >" + hidden_ + "/key";
  const int one = run({{hidden_}}, "cd " + above_ + " || exit 4; mv b c 2>/dev/null && " + decoy +
                                       "; unshare -Um mv b c 2>/dev/null && " + decoy +
                                       "; echo a >b/kept && mv b/kept b/moved && ! test -e c");
  if (one == 77) GTEST_SKIP() << "this system lets nobody make namespaces";
  EXPECT_EQ(one, 0);
  EXPECT_EQ(run({{hidden_}}, "! cat " + above_ + "/*/hidden/key 2>/dev/null"), 0);
  EXPECT_EQ(content_of(hidden_ + "/key"), "secret");
}

TEST_F(Below, AFolderThatIsElsewhereMeanwhileIsNotTakenForHidden) {
  const std::vector<process::HiddenPlace> places{process::identified(hidden_)};
  EXPECT_EQ(process::replaced_place(places), "");
  const int one = run(places, "! test -e " + hidden_ + "/key");
  if (one == 77) GTEST_SKIP() << "this system lets nobody make namespaces";
  EXPECT_EQ(one, 0);
  std::filesystem::rename(above_ + "/b", above_ + "/c");
  EXPECT_EQ(run(places, "true"), ESTALE);
  std::filesystem::create_directories(hidden_);
  EXPECT_EQ(run(places, "true"), ESTALE);
  EXPECT_EQ(process::replaced_place(places), hidden_);
}

TEST_F(Below, ALinkThatLeadsElsewhereMeanwhileIsNoCoverForWhereItLed) {
  const std::string link = above_ + "/link";
  std::filesystem::create_directory_symlink(hidden_, link);
  const std::vector<process::HiddenPlace> places{process::identified(link)};
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink(above_, link);
  EXPECT_EQ(process::replaced_place(places), link);
}

TEST(Namespaces, AreNotForRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_NE(process::namespaces_fault(), "");
}

/// Attempts of users under an executor that is root.
class Apart : public ::testing::Test {
 protected:
  Apart() : options_(test::process_options(files_.folder())) {
    options_.task_uids = UidRange{300'000, 300'001};
    options_.accounts = with_ann();
    chmod(files_.folder().c_str(), 0711);
  }
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can run tasks as other users";
  }
  ProcessHost::News run(const TaskOrder& execution) {
    if (!executor_) {
      executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
    }
    executor_->start(execution);
    return host_.end_of(execution.task.id, execution.attempt);
  }
  static TaskOrder of(const std::string& user, std::uint64_t task, const std::string& text) {
    TaskOrder execution = script(task, text);
    execution.task.array_index = static_cast<std::uint32_t>(task);
    execution.user = user;
    return execution;
  }
  test::TempFile files_{"kept", ""};
  ProcessOptions options_;
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_;
};

TEST_F(Apart, EachUserRunsAsItsOwnAndCannotReadWhatIsAnothers) {
  const auto bob = run(of("bob", 1,
                          "id -u; id -G; echo $HOME | grep -c work; umask 0; echo b >file;"
                          "echo b >$MUSTER_CHECKPOINT_DIR/kept; pwd >&2"));
  EXPECT_EQ(bob.end.out_tail, "300000\n300000\n1\n");
  const std::string work = bob.end.err_tail.substr(0, bob.end.err_tail.size() - 1);
  const std::string checkpoint = (files_.folder() / "checkpoints/7/1/kept").string();
  ASSERT_TRUE(std::filesystem::exists(work + "/file"));
  ASSERT_TRUE(std::filesystem::exists(checkpoint));
  const auto ann = run(of("ann", 2,
                          "id -u; id -G; echo $HOME; cat " + work + "/file " + checkpoint + " " +
                              work + "/../out.0 " + work + "/../order || echo barred"));
  EXPECT_EQ(ann.end.out_tail, "300001\n300002 300003\n/srv/ann\nbarred\n");
  EXPECT_EQ(executor_->isolation(), "uid");
}

TEST_F(Apart, ACheckpointIsItsUsersInTheNextAttempt) {
  run(of("bob", 1, "echo b >$MUSTER_CHECKPOINT_DIR/kept"));
  TaskOrder again = of("bob", 1, "cat $MUSTER_CHECKPOINT_DIR/kept");
  again.attempt = 2;
  EXPECT_EQ(run(again).end.out_tail, "b\n");
}

TEST_F(Apart, WithoutANumberForItsUserAnAttemptFailsAndSaysWhy) {
  options_.task_uids = UidRange{300'000, 300'000};
  run(of("bob", 1, "true"));
  const auto refused = run(of("cleo", 2, "true"));
  EXPECT_EQ(refused.what, "failed");
  EXPECT_EQ(refused.end.failure, FailureKind::cannot_start);
  EXPECT_EQ(refused.reason.rfind("cannot start: no user id is left for user cleo: ", 0), 0u)
      << refused.reason;
}

TEST_F(Apart, AWorkFolderThatIsClosedToItsUserIsNamedWithTheUser) {
  const std::string closed = (files_.folder() / "closed").string();
  std::filesystem::create_directory(closed);
  chmod(closed.c_str(), 0700);
  TaskOrder execution = of("bob", 1, "true");
  execution.program.work_dir = closed;
  EXPECT_THAT(run(execution).reason,
              AllOf(HasSubstr(closed + ": user bob (uid 300000) "), IsGolden()));
}

TEST_F(Apart, TheKernelHoldsAUserOfTheRangeToItsProcesses) {
  options_.max_processes = 5;
  options_.best_means = LimitMeans::subreaper;
  options_.memory_interval = std::chrono::seconds{10};  // nobody but the kernel looks
  const auto end = run(of("bob", 1, "for i in 1 2 3 4 5 6; do sleep 60 & done; wait"));
  EXPECT_EQ(end.reason, "exit code 2");
  EXPECT_NE(end.end.err_tail.find("fork"), std::string::npos) << end.end.err_tail;
}

class Bounds : public ::testing::TestWithParam<LimitMeans> {
 protected:
  Bounds() : options_(test::process_options(files_.folder())) { options_.best_means = GetParam(); }
  ProcessHost::News run(const TaskOrder& execution) {
    executor_.reset();  // before the next one makes a group of the same name
    executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
    executor_->start(execution);
    return host_.end_of(execution.task.id, execution.attempt);
  }
  test::TempFile files_{"kept", ""};
  ProcessOptions options_;
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_;
};
INSTANTIATE_TEST_SUITE_P(Means, Bounds,
                         ::testing::Values(LimitMeans::cgroup2, LimitMeans::subreaper),
                         [](const auto& one) {
                           return one.param == LimitMeans::subreaper ? "subreaper" : "best";
                         });

TEST_P(Bounds, AnAttemptWithMoreProcessesThanItMayHaveIsEnded) {
  options_.max_processes = 5;
  const auto end = run(script(1, "for i in 1 2 3 4 5 6; do sleep 60 & done; wait"));
  EXPECT_EQ(end.what, "failed");
  if (executor_->limits() == "cgroup2") return;  // there a start of a process fails
  EXPECT_THAT(end.reason, testing::MatchesRegex("too many processes: [67], at most 5"));
  EXPECT_EQ(end.end.failure, FailureKind::signal);
}

TEST_P(Bounds, AsManyProcessesAsAllowedRunToTheirEnd) {
  options_.max_processes = 5;
  EXPECT_EQ(run(script(1, "for i in 1 2 3 4; do sleep 0.2 & done; wait")).what, "finished");
  options_.max_processes = 0;
  EXPECT_EQ(run(script(2, "for i in 1 2 3 4 5 6; do sleep 0.2 & done; wait")).what, "finished");
}

TEST_P(Bounds, ATaskRunsOnAsManyProcessorsAsItIsGranted) {
  const std::size_t here = process::own_cpus().size();
  const auto end = run(script(1, "nproc"));
  if (executor_->limits() == "cgroup2") return;  // there they are limited by time
  EXPECT_EQ(end.end.out_tail, "1\n");
  EXPECT_TRUE(executor_->limits().ends_with(", processors by affinity"));
  options_.hold_cpu = false;
  EXPECT_EQ(run(script(2, "nproc")).end.out_tail, std::to_string(here) + "\n");
  EXPECT_TRUE(executor_->limits().ends_with(", processors not held"));
}

/// Whether a process that may have gone into a user namespace of its own first, and then has
/// connected, passes for one of this process's; nothing where the system makes no namespaces.
std::optional<bool> passes_for_own(bool goes_apart, bool of_child = false) {
  const std::string name = "muster-test-" + std::to_string(getpid()) + (goes_apart ? "a" : "b");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  const process::Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(bind(listener.get(), where, size), 0);
  EXPECT_EQ(listen(listener.get(), 1), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (goes_apart && unshare(CLONE_NEWUSER) != 0) _exit(77);
    const int own = socket(AF_UNIX, SOCK_STREAM, 0);
    char none = 0;
    // Stays until the other end has looked and closes.
    const bool there = connect(own, where, size) == 0 && read(own, &none, 1) == 0;
    _exit(there ? 0 : 1);
  }
  pollfd ready{listener.get(), POLLIN, 0};
  std::optional<bool> passes;
  if (poll(&ready, 1, 5000) == 1) {
    const process::Descriptor connection(accept(listener.get(), nullptr, nullptr));
    passes = of_child ? process::is_peer_in_namespace_of(connection.get(), child)
                      : process::is_peer_in_own_namespace(connection.get());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return passes;
}

TEST(ControlSocket, KnowsATaskInANamespaceOfItsOwnFromAWorkerOfTheSameUser) {
  EXPECT_EQ(passes_for_own(false), true);
  const auto apart = passes_for_own(true);
  if (!apart) GTEST_SKIP() << "this system lets nobody make namespaces";
  EXPECT_EQ(apart, false);
}

TEST(ProgressSocket, UnderAnAbstractNameKnowsTheProcessesOfItsTaskByTheirNamespace) {
  EXPECT_EQ(passes_for_own(false, true), true);
  if (!passes_for_own(true)) GTEST_SKIP() << "this system lets nobody make namespaces";
  EXPECT_EQ(passes_for_own(true, true), true) << "the task itself may report";
}

}  // namespace
}  // namespace muster

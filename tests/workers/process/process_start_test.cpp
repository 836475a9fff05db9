#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/golden.hpp"
#include "tests/support/process_host.hpp"
#include "workers/process/limits/task_limits.hpp"
#include "workers/process/shim/shim_task.hpp"
#include "workers/process/start_trouble.hpp"

// How tasks start, and what is said where they cannot: the thing at fault, by its name.

namespace muster {
namespace {

namespace fs = std::filesystem;
using process::TaskAccount;
using test::content_of;
using test::IsGolden;
using test::ProcessHost;
using test::script;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class TaskStart : public ::testing::Test {
 protected:
  TaskStart() : options_(test::process_options(files_.folder())) {}

  ProcessHost::News run(const TaskOrder& execution) {
    if (!executor_) {
      executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
    }
    executor_->start(execution);
    return host_.end_of(execution.task.id, execution.attempt);
  }
  /// What is said of a command that cannot start, without the words before.
  ProcessHost::News start(std::vector<std::string> argv) {
    TaskOrder execution = script(++tasks_, "");
    execution.program.argv = std::move(argv);
    auto end = run(execution);
    EXPECT_EQ(end.what, "failed");
    EXPECT_EQ(end.reason.rfind("cannot start: ", 0), 0u) << end.reason;
    return end;
  }
  std::string file(const std::string& name, const std::string& content, mode_t mode = 0755) {
    const std::string path = (files_.folder() / name).string();
    std::ofstream(path, std::ios::binary) << content;
    chmod(path.c_str(), mode);
    return path;
  }
  std::string path(const std::string& name) { return (files_.folder() / name).string(); }
  TaskOrder in_folder(const std::string& folder, const std::string& text) {
    TaskOrder execution = script(++tasks_, text);
    execution.program.work_dir = folder;
    execution.program.make_work_dir = true;
    return execution;
  }

  test::TempFile files_{"kept", ""};
  ProcessOptions options_;
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_;
  std::uint64_t tasks_ = 0;
};

TEST_F(TaskStart, WhatIsNotFoundIsToldFromWhatCannotBeExecuted) {
  EXPECT_EQ(start({"/nowhere/x"}).end.exit_code, 127);
  EXPECT_EQ(start({"no-such-program"}).end.exit_code, 127);
  EXPECT_EQ(start({path("absent")}).end.exit_code, 127);
  EXPECT_EQ(start({file("plain", "text", 0644)}).end.exit_code, 126);
  EXPECT_EQ(start({files_.folder().string()}).end.exit_code, 126);
  EXPECT_EQ(start({file("odd", "#!/no/such\n")}).end.exit_code, 126);
}

TEST_F(TaskStart, AProgramThatPathDoesNotHaveIsSaidToBeNotInIt) {
  EXPECT_THAT(
      start({"no-such-program"}).reason,
      AllOf(HasSubstr("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"), IsGolden()));
}

TEST_F(TaskStart, ARelativePathSaysInWhichFolderItWasLookedUp) {
  EXPECT_THAT(start({"./run.sh"}).reason,
              AllOf(HasSubstr("./run.sh"), HasSubstr("--workdir ."), IsGolden()));
  TaskOrder named = script(++tasks_, "");
  named.program.argv = {"./run.sh"};
  named.program.work_dir = "/";
  EXPECT_THAT(run(named).reason, AllOf(HasSubstr("./run.sh"), EndsWith(", /"), IsGolden()));
}

TEST_F(TaskStart, AnInterpreterThatIsMissingIsNamed) {
  const std::string dos = file("dos.sh", "#!/bin/bash\r\necho hi\r\n");
  EXPECT_THAT(start({dos}).reason, AllOf(HasSubstr(dos), HasSubstr("'/bin/bash\\r'"), IsGolden()));
  const std::string gone = file("gone.py", "#! /usr/bin/python9 -u\n");
  EXPECT_THAT(start({gone}).reason,
              AllOf(HasSubstr(gone), HasSubstr("'/usr/bin/python9'"), IsGolden()));
  const std::string through = file("through.sh", "#!" + gone + "\n");
  EXPECT_THAT(start({through}).reason,
              AllOf(HasSubstr(through), HasSubstr("'/usr/bin/python9'"), IsGolden()));
  const std::string plain = file("plain", "text", 0644);
  const std::string barred = file("barred.sh", "#!" + plain + "\n");
  EXPECT_THAT(start({barred}).reason,
              AllOf(HasSubstr(barred), HasSubstr("'" + plain + "'"), IsGolden()));
}

TEST_F(TaskStart, ALoaderThatIsMissingIsNamed) {
  std::string program = content_of("/bin/true");
  const std::string loader = "/lib64/ld-linux-x86-64.so.2";
  const std::size_t at = program.find(loader);
  if (at == std::string::npos) GTEST_SKIP() << "programs of this system have another loader";
  program.replace(at, loader.size(), "/lib64/ld-musl--x86-64.so.1");
  const std::string foreign = file("foreign", program);
  const auto end = start({foreign});
  EXPECT_THAT(end.reason,
              AllOf(HasSubstr(foreign), HasSubstr("'/lib64/ld-musl--x86-64.so.1'"), IsGolden()));
  EXPECT_EQ(end.end.exit_code, 126);
}

TEST_F(TaskStart, AProgramForAnotherMachineIsNotGivenToAShell) {
  std::string program = content_of("/bin/true");
  const auto machine = static_cast<unsigned char>(program[18]);
  program[18] = static_cast<char>(machine == EM_AARCH64 ? EM_X86_64 : EM_AARCH64);
  const std::string other = file("other", program);
  std::string reason = start({other}).reason;
  const std::size_t before = reason.rfind(" for ");
  ASSERT_NE(before, std::string::npos) << reason;
  const std::size_t name = before + std::string_view(" for ").size();
  ASSERT_LT(name, reason.size());
  reason.replace(name, std::string::npos, "{machine}");
  EXPECT_THAT(reason, AllOf(HasSubstr(other), IsGolden()));
  const std::string data = file("data", std::string("\1\0\2", 3));
  EXPECT_THAT(start({data}).reason, AllOf(HasSubstr(data), IsGolden()));
}

TEST_F(TaskStart, ATextWithoutAFirstLineIsReadByAShell) {
  TaskOrder execution = script(++tasks_, "");
  execution.program.argv = {file("bare", "echo read: $1\n"), "x"};
  EXPECT_EQ(run(execution).end.out_tail, "read: x\n");
}

TEST_F(TaskStart, WhatMayNotBeExecutedSaysWhy) {
  const std::string plain = file("plain", "text", 0644);
  EXPECT_THAT(start({plain}).reason, AllOf(HasSubstr("mode 644"), IsGolden()));
  EXPECT_THAT(start({files_.folder().string()}).reason, EndsWith(": is a folder"));
  EXPECT_THAT(start({plain + "/x"}).reason,
              EndsWith("Not a directory: " + plain + " is no folder"));
  EXPECT_THAT(start({"/dev/null"}).reason, IsGolden());
}

TEST_F(TaskStart, LinksThatLeadNowhereSayWhereTheyLead) {
  ASSERT_EQ(symlink("/no/such/place", path("dead").c_str()), 0);
  const auto dead = start({path("dead")});
  EXPECT_THAT(dead.reason, AllOf(HasSubstr("/no/such/place"), IsGolden()));
  EXPECT_EQ(dead.end.exit_code, 127);
  ASSERT_EQ(symlink(path("b").c_str(), path("a").c_str()), 0);
  ASSERT_EQ(symlink(path("a").c_str(), path("b").c_str()), 0);
  EXPECT_THAT(start({path("a")}).reason, IsGolden());
}

TEST_F(TaskStart, NamesThatAreTooLongSayHowLongTheyMayBe) {
  for (const std::string& name : {"/" + std::string(300, 'x'), std::string(300, 'x')}) {
    EXPECT_THAT(start({name}).reason, AllOf(HasSubstr("255 bytes"), IsGolden()));
  }
}

TEST_F(TaskStart, WhatIsOpenForWritingIsTriedAgainElsewhere) {
  const std::string busy = file("busy", content_of("/bin/true"));
  std::ofstream open(busy, std::ios::app);
  const auto end = start({busy});
  EXPECT_THAT(end.reason, IsGolden());
  EXPECT_EQ(end.end.failure, FailureKind::lost);
}

TEST_F(TaskStart, AFileSystemWithoutProgramsIsSaidToBeOne) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
  const std::string place = path("mounted");
  fs::create_directory(place);
  if (mount("tmpfs", place.c_str(), "tmpfs", MS_NOEXEC, nullptr) != 0) {
    GTEST_SKIP() << "this system does not let tests mount";
  }
  const std::string program = file("mounted/run.sh", "#!/bin/sh\n");
  const auto end = start({program});
  umount2(place.c_str(), MNT_DETACH);
  EXPECT_THAT(end.reason, IsGolden());
  EXPECT_EQ(end.end.exit_code, 126);
}

TEST(StartTroubles, OfTheSystemNameWhatIsLacking) {
  process::Order order;
  order.program.argv = {"/x"};
  const auto words = [&order](int error) {
    process::StartTrouble trouble;
    trouble.stage = process::StartStage::program;
    trouble.error = error;
    return process::describe(trouble, order, {});
  };
  order.program.env = {{"A", "12345"}};
  EXPECT_THAT(words(E2BIG), AllOf(HasSubstr("11 bytes"), IsGolden()));
  EXPECT_THAT(words(ENOMEM), IsGolden());
  EXPECT_THAT(words(EPERM), IsGolden());
  EXPECT_THAT(words(EAGAIN), IsGolden());
  EXPECT_EQ(words(EIO), "cannot start: /x: Input/output error");
}

TEST_F(TaskStart, AScriptRunsAsItWasSubmittedByItsFirstLine) {
  TaskOrder execution = script(++tasks_, "");
  execution.program.argv = {"./train.sh", "a b", ""};
  execution.program.script = "#!/bin/sh -e\necho \"$0: $1, $#\"; false; echo not here\n";
  const auto end = run(execution);
  const std::string at = path("state/attempts/1.1/script");
  EXPECT_EQ(end.end.out_tail, at + ": a b, 2\n");
  EXPECT_EQ(end.end.exit_code, 1) << "-e of its first line";
  struct stat found {};
  ASSERT_EQ(stat(at.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0500u) << "nobody else's to read";
}

TEST_F(TaskStart, AnOrderThatNobodyWouldReadIsRefusedWithItsSize) {
  TaskOrder execution = script(++tasks_, "");
  // A control character takes six bytes in the attempt's folder.
  execution.program.script = "#!/bin/sh\n" + std::string(std::size_t{1} << 20, '\1');
  const auto end = run(execution);
  EXPECT_EQ(end.end.failure, FailureKind::cannot_start) << end.reason;
  // How many bytes it is depends on the folders that it names.
  std::string reason = end.reason;
  const std::size_t at = reason.find("629");
  ASSERT_NE(at, std::string::npos) << reason;
  EXPECT_THAT(reason.replace(at, 7, "{bytes}"), AllOf(HasSubstr("4194304"), IsGolden()));
  EXPECT_FALSE(fs::exists(path("state/attempts/1.1/order")));
  executor_.reset();
  ProcessHost later;
  ProcessExecutor next(InstanceId{3}, options_, later.host());
  next.adopt();
  EXPECT_EQ(later.end_of(execution.task.id, execution.attempt).reason, end.reason);
}

TEST_F(TaskStart, AScriptWithoutAnInterpreterIsNamedAsItWasSubmitted) {
  TaskOrder execution = script(++tasks_, "");
  execution.program.argv = {"train.py"};
  execution.program.script = "#!/usr/bin/python9\n";
  const auto end = run(execution);
  EXPECT_EQ(end.reason, "cannot start: train.py: its interpreter '/usr/bin/python9' is not there");
  EXPECT_EQ(end.end.exit_code, 126);
}

TEST_F(TaskStart, AScriptRunsWhereNothingMayBeExecuted) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
  const std::string place = path("state");
  fs::create_directories(place);
  if (mount("tmpfs", place.c_str(), "tmpfs", MS_NOEXEC, nullptr) != 0) {
    GTEST_SKIP() << "this system does not let tests mount";
  }
  TaskOrder execution = script(++tasks_, "");
  execution.program.argv = {"a.sh", "x"};
  execution.program.script = "#! /bin/sh -e\necho $1 $-\n";
  const auto end = run(execution);
  executor_.reset();
  umount2(place.c_str(), MNT_DETACH);
  EXPECT_THAT(end.end.out_tail, HasSubstr("x e"));
}

TEST_F(TaskStart, AWorkFolderIsMadeForEachTaskByItsPlaceholders) {
  TaskOrder execution = in_folder(path("runs/job-%j/%3a"), "pwd; umask");
  execution.task.array_index = 4;
  EXPECT_EQ(run(execution).end.out_tail, path("runs/job-7/004") + "\n0022\n");
  EXPECT_EQ(run(in_folder(path("runs/job-7"), "pwd")).end.out_tail, path("runs/job-7") + "\n")
      << "one that is there is entered";
}

TEST_F(TaskStart, AWorkFolderIsNeverMadeThroughSomebodyElsesLink) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make links of others";
  fs::create_directory(path("goal"));
  ASSERT_EQ(symlink(path("goal").c_str(), path("own").c_str()), 0);
  ASSERT_EQ(symlink(path("goal").c_str(), path("other").c_str()), 0);
  ASSERT_EQ(lchown(path("other").c_str(), 65'534, 65'534), 0);
  EXPECT_EQ(run(in_folder(path("own/x"), "pwd -P")).end.out_tail, path("goal/x") + "\n");
  const auto end = run(in_folder(path("other/y"), "true"));
  EXPECT_THAT(end.reason, AllOf(HasSubstr(path("other/y") + ": "), HasSubstr(path("other") + ","),
                                HasSubstr("user 65534"), IsGolden()));
  EXPECT_FALSE(fs::exists(path("goal/y")));
  file("text", "");
  EXPECT_THAT(run(in_folder(path("text/z"), "true")).reason,
              EndsWith("Not a directory: " + path("text") + " is no folder"));
}

TEST_F(TaskStart, AWorkFolderIsMadeByItsUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can run tasks as another user";
  options_.task_uid = 65'534;
  chmod(files_.folder().c_str(), 0711);
  fs::create_directory(path("open"));
  chmod(path("open").c_str(), 01777);
  EXPECT_EQ(run(in_folder(path("open/x/y"), "stat -c %u . ..")).end.out_tail, "65534\n65534\n");
  EXPECT_THAT(run(in_folder(path("mine"), "true")).reason,
              AllOf(HasSubstr(path("mine") + ": user 65534 "), IsGolden()));
  fs::create_directory(path("closed"));
  chmod(path("closed").c_str(), 0700);
  EXPECT_THAT(run(in_folder(path("closed/x"), "true")).reason,
              AllOf(HasSubstr(path("closed/x") + ": user 65534 "), HasSubstr(path("closed") + ": "),
                    IsGolden()));
}

TEST_F(TaskStart, ATaskHasTheNamesOfItsAccountAndOfItsJobsUser) {
  TaskOrder execution = script(++tasks_, "echo $USER $LOGNAME $MUSTER_USER");
  execution.user = "ann";
  const passwd* own = getpwuid(geteuid());
  ASSERT_NE(own, nullptr);
  const std::string name = own->pw_name;
  EXPECT_EQ(run(execution).end.out_tail, name + " " + name + " ann\n");
}

TEST_F(TaskStart, TasksHaveTheirOwnLimitsWhateverTheWorkerHas) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{300, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  rlimit blocks{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &blocks), 0);
  const rlimit small{rlim_t{1} << 20, blocks.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto end = run(script(++tasks_, "ulimit -n; ulimit -f; ulimit -t; ulimit -s; ulimit -c"));
  setrlimit(RLIMIT_NOFILE, &before);
  setrlimit(RLIMIT_FSIZE, &blocks);
  const std::string rest = "\nunlimited\nunlimited\n8192\n0\n";
  // Root without the right to raise limits has what the hard one allows, as anybody else.
  const std::string held = std::to_string(std::min<rlim_t>(before.rlim_max, 65'536));
  EXPECT_THAT(end.end.out_tail, testing::AnyOf("65536" + rest, held + rest));
}

}  // namespace
}  // namespace muster

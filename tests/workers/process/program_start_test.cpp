#include "workers/process/program_start.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/process_host.hpp"

namespace muster::process {
namespace {

using test::content_of;
using Words = std::vector<std::string>;

/// The end of a program: its exit code, or why it did not become one.
struct Became {
  int exit_code = -1;
  std::optional<StartTrouble> trouble{};

  StartFault fault() const { return trouble ? trouble->fault : StartFault::no_file; }
  int error() const { return trouble ? trouble->error : 0; }
  std::string place() const { return trouble ? trouble->place.data() : "(it runs)"; }
};

class ProgramStartTest : public ::testing::Test {
 protected:
  Became become(const std::string& program, Words env = {}) {
    Words argv{program, "7"};
    Words reader{"/bin/sh", "", "7"};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
      ProgramPlan plan;
      plan.program = program.c_str();
      plan.argv = pointers_to(argv);
      plan.env = pointers_to(env);
      plan.reader_argv = pointers_to(reader);
      plan.own_script = own_script_;
      if (!folder_.empty() && chdir(folder_.c_str()) != 0) _exit(99);
      const StartTrouble trouble = become_program(plan);
      [[maybe_unused]] const ssize_t put = write(ends[1], &trouble, sizeof trouble);
      _exit(98);
    }
    close(ends[1]);
    StartTrouble trouble;
    const ssize_t got = read(ends[0], &trouble, sizeof trouble);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    Became became{WIFEXITED(status) ? WEXITSTATUS(status) : -1, {}};
    if (got == static_cast<ssize_t>(sizeof trouble)) became.trouble = trouble;
    return became;
  }
  static std::vector<char*> pointers_to(Words& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
  }
  std::string path(const std::string& name) { return (files_.folder() / name).string(); }
  std::string file(const std::string& name, const std::string& content, mode_t mode = 0755) {
    std::filesystem::create_directories((files_.folder() / name).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    chmod(path(name).c_str(), mode);
    return path(name);
  }
  /// A program of this machine with another loader; empty where it is not built as expected.
  std::string with_loader(const std::string& loader) {
    std::string program = content_of("/bin/true");
    const std::string own = "/lib64/ld-linux-x86-64.so.2";
    const std::size_t at = program.find(own);
    if (at == std::string::npos || loader.size() > own.size()) return "";
    program.replace(at, own.size(), loader + std::string(own.size() - loader.size(), '\0'));
    return file("loaded", program);
  }

  test::TempFile files_{"kept", ""};
  std::string folder_;  ///< present folder of what starts; empty: the test's
  bool own_script_ = false;
};

const std::string kExits = "#!/bin/sh\nexit $1\n";

TEST_F(ProgramStartTest, ANameIsLookedUpInTheFoldersOfThePathInTheirOrder) {
  file("one/tool", "#!/bin/sh\nexit 1\n");
  file("two/tool", "#!/bin/sh\nexit 2\n");
  const std::string one = path("one"), two = path("two");
  EXPECT_EQ(become("tool", {"PATH=" + one + ":" + two}).exit_code, 1);
  EXPECT_EQ(become("tool", {"PATH=/no/such:" + two + ":" + one}).exit_code, 2);
  EXPECT_EQ(become("tool", {"PATH=" + file("text", "") + ":" + two}).exit_code, 2)
      << "what is no folder is passed over";
  EXPECT_EQ(become("tool", {"PATHS=" + one, "PATH=" + two}).exit_code, 2);
}

TEST_F(ProgramStartTest, AnEmptyEntryOfThePathIsThePresentFolder) {
  file("one/tool", kExits);
  folder_ = path("one");
  for (const char* present : {"PATH=", "PATH=:/no/such", "PATH=/no/such:"}) {
    EXPECT_EQ(become("tool", {present}).exit_code, 7) << present;
  }
  EXPECT_EQ(become("tool", {"PATH=/no/such"}).fault(), StartFault::not_in_path);
}

TEST_F(ProgramStartTest, WithoutAPathTheSystemsFoldersAreLookedIn) {
  EXPECT_EQ(become("true").exit_code, 0);
  const Became absent = become("no-such-program");
  EXPECT_EQ(absent.fault(), StartFault::not_in_path);
  EXPECT_EQ(absent.error(), ENOENT);
  EXPECT_EQ(absent.place(), "/bin:/usr/bin");
}

TEST_F(ProgramStartTest, TheFirstThatIsThereAndCannotBeExecutedIsTold) {
  file("one/tool", kExits, 0640);
  std::filesystem::create_directories(path("two/tool"));
  file("three/tool", kExits);
  const std::string one = path("one"), two = path("two"), three = path("three");
  const Became barred = become("tool", {"PATH=/no/such:" + one + ":" + two});
  EXPECT_EQ(barred.fault(), StartFault::no_right);
  EXPECT_EQ(barred.error(), EACCES);
  ASSERT_TRUE(barred.trouble);
  EXPECT_EQ(barred.trouble->detail, 0640U);
  EXPECT_EQ(become("tool", {"PATH=" + two + ":" + one}).fault(), StartFault::is_folder);
  EXPECT_EQ(become("tool", {"PATH=" + one + ":" + two + ":" + three}).exit_code, 7)
      << "unless a later one runs";
}

TEST_F(ProgramStartTest, AFileThatIsNoProgramEndsTheSearch) {
  file("one/tool", std::string("\1\0\2", 3));
  file("two/tool", kExits);
  EXPECT_EQ(become("tool", {"PATH=" + path("one") + ":" + path("two")}).fault(),
            StartFault::no_program);
}

TEST_F(ProgramStartTest, NamesAndEntriesMayBeTooLong) {
  file("one/tool", kExits);
  EXPECT_EQ(become("tool", {"PATH=/" + std::string(5000, 'x') + ":" + path("one")}).exit_code, 7);
  // With the name, a slash and the null that ends it, as long as a path may be, and one more.
  const std::string most = "/" + std::string(PATH_MAX - 7, 'x');
  EXPECT_EQ(become("tool", {"PATH=" + most + "x:" + path("one")}).exit_code, 7);
  EXPECT_EQ(become("tool", {"PATH=" + most + ":" + path("one")}).error(), ENAMETOOLONG);
  const Became longest = become(std::string(255, 'x'), {"PATH=" + path("one")});
  EXPECT_EQ(longest.fault(), StartFault::not_in_path);
  EXPECT_EQ(longest.error(), ENOENT);
  const Became longer = become(std::string(256, 'x'), {"PATH=" + path("one")});
  EXPECT_EQ(longer.fault(), StartFault::itself);
  EXPECT_EQ(longer.error(), ENAMETOOLONG);
}

TEST_F(ProgramStartTest, ATextWithoutAnInterpreterIsReadByAShell) {
  EXPECT_EQ(become(file("a", "exit $1\n")).exit_code, 7);
  EXPECT_EQ(become(file("b", "#!\nexit $1\n")).exit_code, 7);
  EXPECT_EQ(become(file("c", "")).exit_code, 0);
  EXPECT_EQ(become(file("d", std::string(300, '#') + "\nexit $1\n" + '\0')).exit_code, 7)
      << "a zero byte further behind makes no program of it";
}

TEST_F(ProgramStartTest, WhatMayNotBeExecutedIsReadWhereItIsTheOrdersOwn) {
  const std::string script = file("a", kExits, 0400);
  EXPECT_EQ(become(script).fault(), StartFault::no_right);
  own_script_ = true;
  EXPECT_EQ(become(script).exit_code, 7);
  EXPECT_EQ(become(path("absent")).error(), ENOENT) << "of other faults nothing is tried";
}

TEST_F(ProgramStartTest, AnInterpreterIsNamedUpToABlank) {
  for (const char* line :
       {"#!/no/such\n", "#! \t/no/such -x\n", "#!/no/such\t-x\n", "#!/no/such"}) {
    const Became became = become(file("a", line));
    EXPECT_EQ(became.fault(), StartFault::interpreter) << line;
    EXPECT_EQ(became.error(), ENOENT) << line;
    EXPECT_EQ(became.place(), "/no/such") << line;
  }
}

TEST_F(ProgramStartTest, OfInterpretersTheOneThatLacksIsNamed) {
  const std::string middle = file("middle", "#!/no/such\n");
  EXPECT_EQ(become(file("a", "#!" + middle + "\n")).place(), "/no/such");
  const std::string plain = file("plain", "text", 0644);
  const Became barred = become(file("b", "#!" + plain + "\n"));
  EXPECT_EQ(barred.fault(), StartFault::interpreter);
  EXPECT_EQ(barred.error(), EACCES);
  EXPECT_EQ(barred.place(), plain);
  EXPECT_EQ(become(file("c", "#!" + files_.folder().string() + "\n")).place(),
            files_.folder().string());
}

TEST_F(ProgramStartTest, InterpretersOfInterpretersAreFollowedToABound) {
  std::string last = "/bin/sh";
  std::string before;
  for (int i = 0; i < 10; ++i) {
    last = file("s" + std::to_string(i), "#!" + last + "\n");
  }
  const Became became = become(last);
  EXPECT_EQ(became.fault(), StartFault::nested);
  EXPECT_EQ(became.error(), ELOOP);
  EXPECT_EQ(became.place(), last);
}

TEST_F(ProgramStartTest, ALoaderThatIsMissingOrBarredIsNamed) {
  if (with_loader("/x").empty()) GTEST_SKIP() << "programs of this system have another loader";
  const std::pair<const char*, int> loaders[] = {
      {"/no/such/loader", ENOENT}, {"/etc/passwd", EACCES}, {"/usr", EACCES}};
  for (const auto& [loader, error] : loaders) {
    const Became became = become(with_loader(loader));
    EXPECT_EQ(became.fault(), StartFault::loader) << loader;
    EXPECT_EQ(became.error(), error) << loader;
    EXPECT_EQ(became.place(), loader);
  }
}

TEST_F(ProgramStartTest, ALoaderThatTheKernelDoesNotTakeIsNamedWithItsError) {
  const std::string loader = "/usr/bin/ldd";
  if (with_loader(loader).empty() || !std::filesystem::exists(loader)) {
    GTEST_SKIP() << "this system has no such file";
  }
  const Became became = become(with_loader(loader));
  EXPECT_EQ(became.fault(), StartFault::loader);
  EXPECT_EQ(became.error(), ELIBBAD);
  EXPECT_EQ(became.place(), loader);
}

TEST_F(ProgramStartTest, AProgramThatLacksALoaderSaysSoThroughAScriptToo) {
  const std::string program = with_loader("/no/such/loader");
  if (program.empty()) GTEST_SKIP() << "programs of this system have another loader";
  const Became became = become(file("a", "#!" + program + "\n"));
  EXPECT_EQ(became.fault(), StartFault::loader);
  EXPECT_EQ(became.place(), "/no/such/loader");
}

TEST_F(ProgramStartTest, AProgramOfAnotherMachineNamesItInEitherOrderOfBytes) {
  std::string program = content_of("/bin/true");
  const auto machine_at = static_cast<std::ptrdiff_t>(offsetof(Elf64_Ehdr, e_machine));
  const auto own = static_cast<unsigned char>(program[machine_at]);
  const std::uint32_t other = own == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
  program[machine_at] = static_cast<char>(other);
  Became became = become(file("little", program));
  EXPECT_EQ(became.fault(), StartFault::other_machine);
  ASSERT_TRUE(became.trouble);
  EXPECT_EQ(became.trouble->detail, other);
  program[EI_DATA] = ELFDATA2MSB;
  program[machine_at] = 1;
  program[machine_at + 1] = 2;
  became = become(file("big", program));
  EXPECT_EQ(became.fault(), StartFault::other_machine);
  ASSERT_TRUE(became.trouble);
  EXPECT_EQ(became.trouble->detail, 0x102U);
}

TEST_F(ProgramStartTest, AProgramThatIsCutIsNone) {
  const std::string program = content_of("/bin/true");
  for (const std::size_t size : {5U, 10U}) {
    EXPECT_EQ(become(file("cut", program.substr(0, size) + '\0')).fault(), StartFault::no_program)
        << size;
  }
}

TEST_F(ProgramStartTest, APathThatLeadsNowhereSaysWhy) {
  EXPECT_EQ(become(path("absent")).fault(), StartFault::itself);
  EXPECT_EQ(become(path("absent")).error(), ENOENT);
  ASSERT_EQ(symlink("/no/such/place", path("dead").c_str()), 0);
  EXPECT_EQ(become(path("dead")).fault(), StartFault::dead_link);
  EXPECT_EQ(become(path("dead")).place(), "/no/such/place");
  const std::string text = file("text", "");
  EXPECT_EQ(become(text + "/x").fault(), StartFault::above);
  EXPECT_EQ(become(text + "/x").error(), ENOTDIR);
  EXPECT_EQ(become(text + "/x").place(), text);
  EXPECT_EQ(become(files_.folder().string()).fault(), StartFault::is_folder);
  EXPECT_EQ(become("/dev/null").fault(), StartFault::no_file);
  ASSERT_EQ(symlink("round", path("round").c_str()), 0);
  EXPECT_EQ(become(path("round")).fault(), StartFault::itself);
  EXPECT_EQ(become(path("round")).error(), ELOOP);
}

}  // namespace
}  // namespace muster::process

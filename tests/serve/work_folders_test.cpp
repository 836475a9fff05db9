#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "serve/machines/machine_folder.hpp"
#include "serve/machines/task_user.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

// Whether the tasks of a job could start on this computer, as it is looked at when a job is
// submitted.

namespace muster::machines {
namespace {

namespace fs = std::filesystem;
using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using testing::AllOf;
using testing::HasSubstr;

class WorkFoldersTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) { return (files_.folder() / name).string(); }
  std::string file(const std::string& name, mode_t mode) {
    std::ofstream(path(name)) << "text";
    chmod(path(name).c_str(), mode);
    return path(name);
  }
  std::string folder(const std::string& name, mode_t mode) {
    fs::create_directory(path(name));
    chmod(path(name).c_str(), mode);
    return path(name);
  }
  std::string fault(const Program& program) { return WorkFolders(tasks_).fault(program, "ann"); }
  std::string of_folder(const std::string& folder, bool made = false) {
    Program program;
    program.argv = {"true"};
    program.work_dir = folder;
    program.make_work_dir = made;
    return fault(program);
  }
  std::string of_program(const std::string& name) {
    Program program;
    program.argv = {name};
    return fault(program);
  }
  test::TempFile files_{"kept", ""};
  LiveWorkerConfig tasks_;
};

TEST_F(WorkFoldersTest, AFolderHasToBeThereAndToBeOne) {
  EXPECT_EQ(of_folder(files_.folder().string()), "");
  EXPECT_THAT(of_folder("/no/such"), IsGoldenAt("work_dir"));
  const std::string text = file("text", 0644);
  EXPECT_EQ(of_folder(text), "work_dir: " + text + " is no folder");
  EXPECT_EQ(of_folder(text + "/x"), "work_dir: a part of " + text + "/x is no folder");
}

TEST_F(WorkFoldersTest, AFolderThatIsMadeNeedsOnlyAPlaceToBeMadeIn) {
  EXPECT_EQ(of_folder(path("new/%j"), true), "");
  EXPECT_EQ(of_folder(path("new"), true), "");
  const std::string text = file("text", 0644);
  EXPECT_EQ(of_folder(text + "/%j", true), "work_dir: " + text + " is no folder");
}

TEST_F(WorkFoldersTest, AProgramGivenByItsPathHasToBeThereAndToBeExecutable) {
  EXPECT_EQ(of_program("/bin/true"), "");
  EXPECT_EQ(of_program("no-such-program"), "") << "it is looked up where it runs";
  EXPECT_EQ(of_program("/nowhere/x"), "command: /nowhere/x is not there");
  EXPECT_EQ(of_program(files_.folder().string()),
            "command: " + files_.folder().string() + " is a folder");
  const std::string text = file("text", 0644);
  EXPECT_THAT(of_program(text),
              AllOf(HasSubstr(text), HasSubstr("644 (chmod +x)"), IsGoldenAt("command")));
  Program script;
  script.argv = {"/nowhere/x.sh"};
  script.script = "#!/bin/sh\n";
  EXPECT_EQ(fault(script), "") << "its text is with the job";
}

TEST_F(WorkFoldersTest, AnotherUserIsNamedWithWhatBarsIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs tasks as another user";
  tasks_.task_uid = 65'534;
  chmod(files_.folder().c_str(), 0711);
  const std::string closed = folder("closed", 0700);
  const std::string mine = folder("closed/mine", 0755);
  const std::string who = "user ann (uid 65534)";
  EXPECT_THAT(of_folder(mine),
              AllOf(HasSubstr(who), HasSubstr(mine + ": " + closed), HasSubstr("mode 700"),
                    HasSubstr("user 0"), IsGoldenAt("work_dir")));
  EXPECT_THAT(of_folder(mine + "/%j", true), AllOf(HasSubstr(who), IsGoldenAt("work_dir")));
  EXPECT_THAT(of_program(file("closed/x", 0755)), AllOf(HasSubstr(who), IsGoldenAt("command")));
  EXPECT_THAT(of_folder(path("new"), true),
              AllOf(HasSubstr(who), HasSubstr(path("new") + ": " + files_.folder().string()),
                    HasSubstr("mode 711"), HasSubstr("user 0"), IsGoldenAt("work_dir")));
  folder("open", 0777);
  EXPECT_EQ(of_folder(path("open/new"), true), "");
}

TEST(DurableFiles, AreReplacedAsAWholeAndLeaveNoDraft) {
  const test::TempFile files("kept", "");
  const fs::path file = files.folder() / "ended";
  EXPECT_EQ(write_durably(file, "1"), "");
  EXPECT_EQ(write_durably(file, "22\n"), "");
  EXPECT_EQ(read_text(file), "22\n");
  EXPECT_FALSE(fs::exists(file.string() + ".new"));
  EXPECT_THAT(write_durably(files.folder() / "absent/ended", "1"), IsGolden());
}

}  // namespace
}  // namespace muster::machines

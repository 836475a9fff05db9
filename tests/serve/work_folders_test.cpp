#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "serve/machines/machine_folder.hpp"
#include "serve/machines/task_user.hpp"
#include "tests/support/temp_file.hpp"

// Whether the tasks of a job could start on this computer, as it is looked at when a job is
// submitted.

namespace muster::machines {
namespace {

namespace fs = std::filesystem;
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
  EXPECT_EQ(of_folder("/no/such"),
            "work_dir: /no/such is not there; --make-workdir (make_work_dir) has the tasks make "
            "it");
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
  EXPECT_EQ(of_program(text),
            "command: " + text + " may be executed by nobody: its mode is 644 (chmod +x)");
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
  const std::string why = "user ann (uid 65534) cannot enter ";
  EXPECT_EQ(of_folder(mine),
            "work_dir: " + why + mine + ": " + closed + " has mode 700 and is of user 0");
  EXPECT_THAT(of_folder(mine + "/%j", true), HasSubstr("work_dir: " + why));
  EXPECT_THAT(of_program(file("closed/x", 0755)), HasSubstr("command: " + why));
  EXPECT_EQ(of_folder(path("new"), true), "work_dir: user ann (uid 65534) cannot make " +
                                              path("new") + ": " + files_.folder().string() +
                                              " has mode 711 and is of user 0");
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
  EXPECT_THAT(write_durably(files.folder() / "absent/ended", "1"),
              HasSubstr("absent/ended.new: No such file or directory"));
}

}  // namespace
}  // namespace muster::machines

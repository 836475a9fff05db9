// How a task gets to the folder that its job names, where it is missing too.

#include "workers/process/folder_start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temp_file.hpp"
#include "workers/process/program_start.hpp"

namespace muster::process {
namespace {

namespace fs = std::filesystem;

/// The process is where it was before when the test is over.
class FolderStartTest : public testing::Test {
 protected:
  ~FolderStartTest() override { EXPECT_EQ(chdir(before_.c_str()), 0); }

  std::string path(const std::string& name) const { return root_ / name; }
  void make(const std::string& name) const { fs::create_directories(path(name)); }
  void link(const std::string& target, const std::string& name) const {
    fs::create_symlink(target, path(name));
  }
  /// The path without links, relative to the test's folder; empty after a trouble.
  std::string followed(const std::string& whole) {
    PlainPath plain;
    trouble_ = {};
    if (!follow_to_made(whole.c_str(), plain, trouble_)) return "";
    const std::string text = plain.text.data();
    EXPECT_TRUE(text.starts_with(root_.string())) << text;
    return text.substr(std::min(text.size(), root_.string().size()));
  }
  /// Makes the folder and enters it.
  bool enters(const std::string& whole) {
    PlainPath plain;
    trouble_ = {};
    return follow_to_made(whole.c_str(), plain, trouble_) && make_and_enter(plain, trouble_);
  }
  std::string place() const { return trouble_.place.data(); }

  const fs::path before_ = fs::current_path();
  test::TempFile files_{"file", ""};
  const fs::path root_ = fs::canonical(files_.folder());
  StartTrouble trouble_;
};

TEST_F(FolderStartTest, APathIsFollowedAsFarAsItIsThere) {
  make("a/b");
  EXPECT_EQ(followed(path("a/b")), "/a/b");
  EXPECT_EQ(followed(path("a//./b/")), "/a/b");
  EXPECT_EQ(followed(path("a/b/../c")), "/a/c");
  EXPECT_EQ(followed(path("a/new/er")), "/a/new/er");
  EXPECT_EQ(followed(path("a/new/./er/")), "/a/new/er");
}

TEST_F(FolderStartTest, LinksOfTheOwnUserAreFollowed) {
  make("a/b");
  link("a", "relative");
  link(path("a/b"), "absolute");
  link("relative/b", "double");
  EXPECT_EQ(followed(path("relative/b/c")), "/a/b/c");
  EXPECT_EQ(followed(path("absolute/c")), "/a/b/c");
  EXPECT_EQ(followed(path("double")), "/a/b");
  EXPECT_EQ(followed(path("relative/../a")), "/a");
}

TEST_F(FolderStartTest, LinksThatGoRoundAreNot) {
  link("round", "round");
  EXPECT_EQ(followed(path("round/a")), "");
  EXPECT_EQ(trouble_.error, ELOOP);
  EXPECT_EQ(trouble_.stage, StartStage::work_dir);
  EXPECT_EQ(place(), path("round"));
  // As many as the kernel follows, and one more.
  make("end");
  link("end", "0");
  for (int i = 1; i <= 40; ++i) link(std::to_string(i - 1), std::to_string(i));
  EXPECT_EQ(followed(path("39")), "/end");
  EXPECT_EQ(followed(path("40")), "");
}

TEST_F(FolderStartTest, LinksOfOthersAreNot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a link of somebody else's";
  make("a");
  link("a", "other");
  ASSERT_EQ(lchown(path("other").c_str(), 65534, 65534), 0);
  EXPECT_EQ(followed(path("other/b")), "");
  EXPECT_EQ(trouble_.fault, StartFault::other_link);
  EXPECT_EQ(trouble_.detail, 65534U);
  EXPECT_EQ(place(), path("other"));
}

TEST_F(FolderStartTest, AFileOnTheWayBarsIt) {
  EXPECT_EQ(followed(path("file/a")), "");
  EXPECT_EQ(trouble_.fault, StartFault::above);
  EXPECT_EQ(trouble_.error, ENOTDIR);
  EXPECT_EQ(place(), path("file"));
}

TEST_F(FolderStartTest, NothingLeadsOutOfWhatIsMissing) {
  EXPECT_EQ(followed(path("new/../a")), "");
  EXPECT_EQ(trouble_.error, ENOENT);
}

TEST_F(FolderStartTest, NamesAndPathsThatAreTooLongAreToldAsSuch) {
  EXPECT_EQ(followed(path(std::string(255, 'n'))), "/" + std::string(255, 'n'));
  EXPECT_EQ(followed(path(std::string(256, 'n'))), "");
  EXPECT_EQ(trouble_.error, ENAMETOOLONG);
  std::string deep = root_.string();
  while (deep.size() < 4096) deep += "/d";
  EXPECT_EQ(followed(deep), "");
  EXPECT_EQ(trouble_.error, ENAMETOOLONG);
}

TEST_F(FolderStartTest, WhatIsMissingIsMadeAndEntered) {
  make("a");
  EXPECT_TRUE(enters(path("a/b/c")));
  EXPECT_EQ(fs::current_path(), path("a/b/c"));
  EXPECT_TRUE(enters(path("a/b/c"))) << "it is there";
  EXPECT_TRUE(enters(path("a")));
  EXPECT_EQ(fs::current_path(), path("a"));
}

TEST_F(FolderStartTest, ALinkThatStandsThereMeanwhileIsNotFollowed) {
  make("a");
  PlainPath plain;
  ASSERT_TRUE(follow_to_made(path("b/c").c_str(), plain, trouble_));
  link("a", "b");
  EXPECT_FALSE(make_and_enter(plain, trouble_));
  EXPECT_EQ(trouble_.fault, StartFault::making);
  EXPECT_EQ(place(), path("b"));
  EXPECT_FALSE(fs::exists(path("a/c")));
}

TEST_F(FolderStartTest, AFolderThatHasToBeThereIsEnteredOrNamedWithWhatBarsIt) {
  make("a");
  EXPECT_TRUE(enter(path("a").c_str(), trouble_));
  EXPECT_EQ(fs::current_path(), path("a"));
  EXPECT_FALSE(enter(path("absent").c_str(), trouble_));
  EXPECT_EQ(trouble_.fault, StartFault::itself);
  EXPECT_EQ(trouble_.error, ENOENT);
  link("absent", "dead");
  EXPECT_FALSE(enter(path("dead").c_str(), trouble_));
  EXPECT_EQ(trouble_.fault, StartFault::dead_link);
  EXPECT_EQ(place(), "absent");
  EXPECT_FALSE(enter(path("file/a").c_str(), trouble_));
  EXPECT_EQ(trouble_.fault, StartFault::above);
  EXPECT_EQ(trouble_.error, ENOTDIR);
  EXPECT_EQ(place(), path("file"));
}

TEST_F(FolderStartTest, WhatBarsAPathIsTheFirstThatIsNoFolder) {
  make("a/b");
  const auto barred = [&](const std::string& whole) {
    StartTrouble trouble;
    find_on_way(whole.c_str(), trouble);
    EXPECT_EQ(trouble.fault == StartFault::above, trouble.place[0] != '\0');
    return std::string(trouble.place.data());
  };
  EXPECT_EQ(barred(path("a/b/c")), "");
  EXPECT_EQ(barred(path("file")), "") << "itself is not on the way";
  EXPECT_EQ(barred(path("file/a/b")), path("file"));
  EXPECT_EQ(barred(path("absent/a")), "");
  EXPECT_EQ(barred("/" + std::string(5000, 'x') + "/y"), "");
}

}  // namespace
}  // namespace muster::process

// Where commands write: a file is there whole or as it was.

#include "tools/cli/output.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>

#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OutputTest : public testing::Test {
 protected:
  OutputTest() : before_(std::cerr.rdbuf(err_.rdbuf())) {}
  ~OutputTest() override { std::cerr.rdbuf(before_); }

  fs::path path(const std::string& name) const { return files_.folder() / name; }
  static std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  bool write(const fs::path& file, const std::string& text) {
    return write_output(file, [&](std::ostream& out) { out << text; });
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(files_.folder()), {}));
  }
  std::string said() const { return err_.str(); }

  test::TempFile files_{"there", "before"};

 private:
  std::ostringstream err_;
  std::streambuf* before_;
};

TEST_F(OutputTest, AFileIsMadeWithItsFolderOrReplaced) {
  EXPECT_TRUE(write(path("new/folder/a"), "text"));
  EXPECT_EQ(content(path("new/folder/a")), "text");
  EXPECT_TRUE(write(files_.path(), "after"));
  EXPECT_EQ(content(files_.path()), "after");
  EXPECT_TRUE(write(path("empty"), ""));
  EXPECT_TRUE(fs::exists(path("empty")));
  EXPECT_EQ(said(), "");
}

TEST_F(OutputTest, ALinkStaysAndTheFileThatItNamesIsWritten) {
  fs::create_symlink(files_.path(), path("link"));
  EXPECT_TRUE(write(path("link"), "after"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(files_.path()), "after");
}

TEST_F(OutputTest, WhatIsNotWantedLeavesTheFileAsItWas) {
  EXPECT_TRUE(write_or_drop(files_.path(), [](std::ostream& out) {
    out << "half";
    return false;
  }));
  EXPECT_EQ(content(files_.path()), "before");
  EXPECT_EQ(files(), 1U) << "nothing stays beside it";
}

TEST_F(OutputTest, WhatCouldNotBeWrittenLeavesTheFileAsItWas) {
  EXPECT_FALSE(write_output(files_.path(), [](std::ostream& out) {
    out << "half";
    out.setstate(std::ios::failbit);
  }));
  EXPECT_EQ(content(files_.path()), "before");
  EXPECT_EQ(files(), 1U);
  EXPECT_THAT(said(), HasSubstr("cannot write " + files_.path().string()));
}

TEST_F(OutputTest, ADeviceIsWrittenInPlace) {
  EXPECT_TRUE(write("/dev/null", "text"));
  EXPECT_TRUE(can_write("/dev/null"));
  struct stat found {};
  ASSERT_EQ(stat("/dev/null", &found), 0);
  EXPECT_TRUE(S_ISCHR(found.st_mode));
  EXPECT_FALSE(write("/dev/full", "text"));
}

TEST_F(OutputTest, AFolderIsNoFile) {
  EXPECT_FALSE(write(files_.folder(), "text"));
  EXPECT_FALSE(can_write(files_.folder()));
  EXPECT_THAT(said(), muster::test::IsGolden());
}

TEST_F(OutputTest, WhetherAFileCanBeWrittenIsKnownBefore) {
  for (const fs::path& good : {fs::path(), fs::path("-"), path("a"), path("b/c"), files_.path()}) {
    EXPECT_TRUE(can_write(good)) << good;
  }
  EXPECT_FALSE(fs::exists(path("a"))) << "to try makes no file";
  EXPECT_EQ(content(files_.path()), "before");
  EXPECT_EQ(said(), "");
  EXPECT_FALSE(can_write(files_.path() / "below"));
  EXPECT_THAT(said(), HasSubstr("cannot write " + (files_.path() / "below").string()));
}

TEST_F(OutputTest, StandardOutputIsTheNameOfADash) {
  std::ostringstream out;
  std::streambuf* before = std::cout.rdbuf(out.rdbuf());
  EXPECT_TRUE(write("-", "text"));
  EXPECT_TRUE(flush_standard_output());
  EXPECT_TRUE(told("job 1 was taken"));
  std::cout.setstate(std::ios::badbit);
  EXPECT_FALSE(write("-", "more"));
  EXPECT_FALSE(told("job 1 was taken"));
  std::cout.clear();
  std::cout.rdbuf(before);
  EXPECT_EQ(out.str(), "text");
  EXPECT_THAT(said(), HasSubstr("muster: job 1 was taken, but "));
}

TEST_F(OutputTest, ComplaintsHaveNothingThatATerminalObeysAndNoFloods) {
  complain("a\x1b[31mb");
  EXPECT_EQ(said().find('\x1b'), std::string::npos);
  const std::size_t before = said().size();
  complain("x " + std::string(10'000, 'y') + " z");
  EXPECT_LT(said().size() - before, 600U);
  EXPECT_TRUE(said().ends_with(" z\n"));
  const std::string word(400, 'w');
  complain(word);
  EXPECT_THAT(said(), HasSubstr(word + "\n"));
}

TEST(SentenceOf, AnExceptionIsForPeople) {
  EXPECT_EQ(sentence_of(std::runtime_error("words")), "words");
  EXPECT_EQ(sentence_of(fs::filesystem_error("status", "/a/b",
                                             std::make_error_code(std::errc::permission_denied))),
            "/a/b: Permission denied");
  EXPECT_EQ(sentence_of(std::system_error(std::make_error_code(std::errc::file_exists), "open")),
            "File exists");
  EXPECT_THAT(sentence_of(std::bad_alloc()), HasSubstr("memory"));
}

TEST(Elapsed, GoesForwardOnly) {
  const Duration first = elapsed();
  EXPECT_GE(elapsed(), first);
  EXPECT_GE(first, Duration::zero());
}

}  // namespace
}  // namespace muster::cli

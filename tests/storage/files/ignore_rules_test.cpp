#include "storage/files/ignore_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "storage/files/file_io.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::files {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using test::TempFile;

IgnoreRules rules(const std::string& text) {
  return IgnoreRules::parse(text).value();
}
bool ignores_file(const std::string& text, const std::string& path) {
  return rules(text).ignores(path, false);
}

TEST(IgnoreRulesTest, without_a_slash_are_of_names_in_any_folder) {
  EXPECT_TRUE(ignores_file("*.o\n", "a.o"));
  EXPECT_TRUE(ignores_file("*.o\n", "src/deep/a.o"));
  EXPECT_FALSE(ignores_file("*.o\n", "a.obj"));
}

TEST(IgnoreRulesTest, with_a_slash_are_of_paths_from_the_top) {
  for (const char* rule : {"/build", "/build/"}) {
    EXPECT_TRUE(rules(rule).ignores("build", true)) << rule;
    EXPECT_FALSE(rules(rule).ignores("x/build", true)) << rule;
  }
  EXPECT_TRUE(ignores_file("doc/*.txt", "doc/a.txt"));
  EXPECT_FALSE(ignores_file("doc/*.txt", "x/doc/a.txt"));
  EXPECT_TRUE(ignores_file("**/doc/*.txt", "x/doc/a.txt"));
}

TEST(IgnoreRulesTest, with_a_slash_behind_are_of_folders) {
  EXPECT_TRUE(rules("build/").ignores("x/build", true));
  EXPECT_FALSE(rules("build/").ignores("x/build", false));
  EXPECT_TRUE(ignores_file("build/", "x/build/y/z")) << "it is in an ignored folder";
}

TEST(IgnoreRulesTest, let_the_last_line_that_fits_decide) {
  EXPECT_FALSE(ignores_file("*.log\n!keep.log\n", "keep.log"));
  EXPECT_TRUE(ignores_file("!keep.log\n*.log\n", "keep.log"));
}

TEST(IgnoreRulesTest, let_the_last_line_decide_among_names_and_patterns) {
  EXPECT_FALSE(ignores_file("a.log\n!*.log\n", "a.log"));
  EXPECT_TRUE(ignores_file("!*.log\na.log\n", "x/a.log"));
  EXPECT_FALSE(ignores_file("a\\*b\n*\n!a\\*b\n", "a*b"));
  EXPECT_TRUE(ignores_file("!a\na/\na\n!a/\n", "a"));
  EXPECT_FALSE(rules("a\n!a/\n").ignores("a", true));
  EXPECT_TRUE(rules("!a/\na\n").ignores("a", true));
  EXPECT_FALSE(rules("a/\n!a\n").ignores("a", true));
  EXPECT_FALSE(ignores_file("[a]\na\n!/x/a\n", "x/a"));
}

TEST(IgnoreRulesTest, take_back_nothing_below_an_ignored_folder) {
  EXPECT_TRUE(ignores_file("out\n!out/keep\n", "out/keep"));
  EXPECT_FALSE(ignores_file("out/*\n!out/keep\n", "out/keep"));
  EXPECT_FALSE(ignores_file("out/**\n!out/keep\n", "out/keep")) << "of the folder it has only all";
  EXPECT_FALSE(rules("out\n!out/keep\n").ignores_itself("out/keep", false));
}

TEST(IgnoreRulesTest, leave_out_comments_empty_lines_and_blanks_behind) {
  EXPECT_FALSE(ignores_file("# a\n\n  \n", "a"));
  EXPECT_TRUE(
      ignores_file("\xef\xbb\xbf"
                   "a  \r\nb",
                   "a"));
  EXPECT_TRUE(ignores_file("a\r\nb", "b"));
  EXPECT_TRUE(ignores_file("a\\ ", "a "));
  EXPECT_TRUE(ignores_file("a\\\\ ", "a\\"));
  EXPECT_FALSE(ignores_file("a\\ ", "a"));
}

TEST(IgnoreRulesTest, take_marks_behind_a_backslash_as_they_are) {
  EXPECT_TRUE(ignores_file("\\#a", "#a"));
  EXPECT_TRUE(ignores_file("\\!a", "!a"));
  EXPECT_TRUE(ignores_file("!b\n#c\n\\*", "*"));
}

TEST(IgnoreRulesTest, name_the_line_that_is_wrong) {
  for (const char* bad : {"a\n[b\n", "a\n../b\n", "a\n!\n", "a\n/\n", "a\nb//c\n"}) {
    const auto parsed = IgnoreRules::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, FileError::invalid);
    EXPECT_THAT(parsed.error().message, IsGoldenAt(".musterignore:2"));
  }
}

TEST(IgnoreRulesTest, have_a_bound) {
  EXPECT_TRUE(IgnoreRules::parse(std::string(10'000, '\n')));
  EXPECT_EQ(IgnoreRules::parse(std::string(10'001, '\n')).error().code, FileError::too_large);
  EXPECT_EQ(IgnoreRules::parse(std::string((1 << 20) + 1, '#')).error().code, FileError::too_large);
}

TEST(IgnoreRulesTest, are_read_from_their_folder) {
  const TempFile file(kIgnoreFile, "*.o\n");
  const auto folder = open_folder(file.folder());
  EXPECT_TRUE(IgnoreRules::of_folder(folder.value().get()).value().ignores("a.o", false));
  std::filesystem::remove(file.path());
  EXPECT_FALSE(IgnoreRules::of_folder(folder.value().get()).value().ignores("a.o", false));
  std::filesystem::create_symlink("/etc/passwd", file.path());
  EXPECT_FALSE(IgnoreRules::of_folder(folder.value().get())) << "a link is not followed";
  std::filesystem::remove(file.path());
  std::filesystem::create_directory(file.path());
  const auto refused = IgnoreRules::of_folder(folder.value().get());
  EXPECT_EQ(refused.error().code, FileError::refused);
  EXPECT_THAT(refused.error().message, IsGolden());
}

}  // namespace
}  // namespace muster::files

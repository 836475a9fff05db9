#include "storage/files/path_pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/golden.hpp"

namespace muster::files {
namespace {

using test::IsGolden;

bool fits(const std::string& pattern, const std::string& path) {
  return PathPattern::compile(pattern).value().matches(path);
}

TEST(PathPatternTest, of_a_plain_path_matches_that_path) {
  EXPECT_TRUE(fits("out/a.csv", "out/a.csv"));
  for (const char* other : {"out/b.csv", "out", "out/a.csv/x", "x/out/a.csv", ""}) {
    EXPECT_FALSE(fits("out/a.csv", other)) << other;
  }
}

TEST(PathPatternTest, has_stars_for_any_text_of_one_part) {
  for (const char* path : {"out/.csv", "out/a.csv", "out/a.b.csv"}) {
    EXPECT_TRUE(fits("out/*.csv", path)) << path;
  }
  EXPECT_FALSE(fits("out/*.csv", "out/a/b.csv"));
  EXPECT_FALSE(fits("out/*.csv", "out/a.csvs"));
  EXPECT_TRUE(fits("*a*b*c", "xxabbxbc"));
  EXPECT_TRUE(fits("a**b", "axxb")) << "two stars inside of a part are as one";
  EXPECT_FALSE(fits("a**b", "a/b"));
}

TEST(PathPatternTest, has_question_marks_for_one_character_of_any_language) {
  EXPECT_TRUE(fits("?.txt", "\xc3\xa9.txt"));
  EXPECT_FALSE(fits("?.txt", ".txt"));
  EXPECT_FALSE(fits("a?b", "a/b"));
}

TEST(PathPatternTest, has_sets_of_characters) {
  EXPECT_TRUE(fits("run[0-9a]", "run7"));
  EXPECT_TRUE(fits("run[0-9a]", "runa"));
  EXPECT_FALSE(fits("run[0-9a]", "runb"));
  EXPECT_TRUE(fits("run[!0-9]", "runx"));
  EXPECT_FALSE(fits("run[!0-9]", "run5"));
  EXPECT_FALSE(fits("run[^0-9]", "run5"));
  EXPECT_TRUE(fits("[]a]", "]"));
  EXPECT_TRUE(fits("[!]]", "a"));
  EXPECT_TRUE(fits("[a-]", "-"));
  EXPECT_TRUE(fits("[\\]]", "]"));
  EXPECT_TRUE(fits("[\xc3\xa0-\xc3\xbf]", "\xc3\xa9"));
}

TEST(PathPatternTest, takes_a_character_behind_a_backslash_as_it_is) {
  EXPECT_TRUE(fits("\\*", "*"));
  EXPECT_FALSE(fits("\\*", "a"));
  EXPECT_TRUE(fits("\\[a]", "[a]"));
  EXPECT_TRUE(fits("\\a", "a"));
}

TEST(PathPatternTest, has_two_stars_for_any_number_of_parts) {
  for (const char* path : {"a/b", "a/x/b", "a/x/y/b", "a/b/b"}) {
    EXPECT_TRUE(fits("a/**/b", path)) << path;
  }
  EXPECT_FALSE(fits("a/**/b", "ab"));
  EXPECT_TRUE(fits("**/b", "b"));
  EXPECT_TRUE(fits("**/b", "x/y/b"));
  EXPECT_TRUE(fits("a/**", "a/x"));
  EXPECT_TRUE(fits("a/**", "a/x/y"));
  EXPECT_FALSE(fits("a/**", "a")) << "all that is in it";
  EXPECT_TRUE(fits("**", "a"));
  EXPECT_TRUE(fits("**/**", "a/b"));
}

TEST(PathPatternTest, knows_folders_that_need_no_look) {
  const PathPattern pattern = PathPattern::compile("out/*/best.bin").value();
  for (const char* folder : {"", "out", "out/7"}) EXPECT_TRUE(pattern.may_match_below(folder));
  for (const char* folder : {"in", "out/7/best.bin", "out/7/x"}) {
    EXPECT_FALSE(pattern.may_match_below(folder)) << folder;
  }
  EXPECT_TRUE(PathPattern::compile("**/x").value().may_match_below("a/b/x"));
}

TEST(PathPatternTest, says_which_rule_a_text_breaks) {
  for (const std::string& bad :
       {std::string{}, std::string("/a"), std::string("a/"), std::string("a//b"),
        std::string("../a"), std::string("a/./b"), std::string("[a"), std::string("[a/b]"),
        std::string("[]"), std::string("[b-a]"), std::string("[[:digit:]]"), std::string("a\\"),
        std::string("a\xff"), std::string("a\0", 2), std::string("[a-")}) {
    const auto pattern = PathPattern::compile(bad);
    ASSERT_FALSE(pattern) << bad;
    EXPECT_EQ(pattern.error().code, FileError::invalid);
    EXPECT_THAT(pattern.error().message, IsGolden());
  }
  EXPECT_TRUE(PathPattern::compile(std::string(1024, 'a')));
  EXPECT_FALSE(PathPattern::compile(std::string(1025, 'a')));
}

TEST(PathPatternTest, is_fast_for_texts_that_are_made_to_be_slow) {
  // Each of these takes longer than the universe is old where every way is tried.
  std::string stars, parts, path;
  while (stars.size() < 1000) stars += "*a";
  while (parts.size() < 1000) parts += "**/a/";
  while (path.size() < 4000) path += "a/";
  EXPECT_FALSE(fits(stars + "b", std::string(4096, 'a')));
  EXPECT_FALSE(fits(parts + "b", path + "a"));
  EXPECT_TRUE(fits(parts + "a", path + "a"));
}

/// The plainest matcher of one part: tries every way.
bool matches_plainly(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return matches_plainly(pattern.substr(1), text) ||
           (!text.empty() && text[0] != '/' && matches_plainly(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '?' ? text[0] != '/' : pattern[0] == text[0]) &&
         matches_plainly(pattern.substr(1), text.substr(1));
}

/// Some parts of these letters, with slashes between them.
std::string arbitrary_parts(const std::string& letters) {
  const auto part = rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(letters)));
  std::string path;
  const auto parts = *rc::gen::nonEmpty(
      rc::gen::resize(6, rc::gen::container<std::vector<std::string>>(rc::gen::resize(6, part))));
  for (const std::string& each : parts) path += (path.empty() ? "" : "/") + each;
  return path;
}

RC_GTEST_PROP(PathPatternTest, matches_as_trying_every_way_does, ()) {
  std::string pattern = arbitrary_parts("ab*?");
  // Two stars would be any number of parts, which the plain matcher does not know.
  while (pattern.find("**") != pattern.npos) pattern.erase(pattern.find("**"), 1);
  const std::string path = arbitrary_parts("ab");
  const bool matches = matches_plainly(pattern, path);
  RC_CLASSIFY(matches);
  RC_ASSERT(fits(pattern, path) == matches);
}

RC_GTEST_PROP(PathPatternTest, may_match_below_every_folder_of_a_match, ()) {
  const auto pattern = PathPattern::compile(arbitrary_parts("ab**"));
  RC_ASSERT(pattern.has_value());
  const std::string path = arbitrary_parts("ab");
  const bool matches = pattern.value().matches(path);
  RC_CLASSIFY(matches);
  for (auto at = path.find('/'); matches && at != path.npos; at = path.find('/', at + 1)) {
    RC_ASSERT(pattern.value().may_match_below(path.substr(0, at)));
  }
}

RC_GTEST_PROP(PathPatternTest, takes_any_bytes_without_harm,
              (const std::string& pattern, const std::string& path)) {
  const auto compiled = PathPattern::compile(pattern);
  if (compiled) compiled.value().matches(path);
}

}  // namespace
}  // namespace muster::files

#include "config/error_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/closest_word.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using testing::HasSubstr;
using testing::Not;

TEST(ErrorList, NamesFileLineColumnAndField) {
  ErrorList errors;
  errors.add({"a.toml", 3, 7}, "seed", "is bad");
  EXPECT_EQ(errors.text(), "a.toml:3:7: seed: is bad");
}

TEST(ErrorList, LeavesOutWhatIsNotKnown) {
  ErrorList errors;
  errors.add({"a.toml", 0, 7}, "", "is bad");
  errors.add({"b.csv", 4, 0}, "", "is worse");
  EXPECT_EQ(errors.text(), "a.toml: is bad\nb.csv:4: is worse");
}

TEST(ErrorList, ShowsTheFirstOnesAndCountsTheRest) {
  ErrorList errors;
  for (std::uint32_t line = 1; line <= 25; ++line) errors.add({"f", line, 0}, "", "bad");
  const std::string text = errors.text(20);
  EXPECT_THAT(text, HasSubstr("f:20: bad"));
  EXPECT_THAT(text, Not(HasSubstr("f:21: bad")));
  EXPECT_THAT(text, HasSubstr("... and 5 more"));
}

TEST(ErrorList, SortsByLineWithUnplacedErrorsLast) {
  ErrorList errors;
  errors.add({"f"}, "", "nowhere");
  errors.add({"f", 9, 2}, "", "late");
  errors.add({"f", 9, 1}, "", "earlier");
  errors.add({"f", 1, 5}, "", "first");
  errors.sort_by_line();
  EXPECT_EQ(errors.text(), "f:1:5: first\nf:9:1: earlier\nf:9:2: late\nf: nowhere");
}

TEST(ErrorList, CutsWhatIsLongAndTellsItsSize) {
  ErrorList errors;
  const std::string flood(1'000'000, 'k');
  errors.add({"a.toml", 1, 0}, flood, unknown_word("key", flood, {"quantum", "settle"}));
  EXPECT_LT(errors.text().size(), 1000U);
  EXPECT_THAT(errors.text(), HasSubstr("... (1000000 bytes)"));
  EXPECT_THAT(errors.text(), IsGolden());
}

TEST(ErrorList, DoesNotCutACharacterInTwo) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\u00e4";
  EXPECT_THAT(brief(text, 51), testing::StartsWith(text.substr(0, 50) + "..."));
  EXPECT_EQ(brief("short", 3), "short");
}

TEST(ErrorList, LetsNoValueSteerTheTerminal) {
  ErrorList errors;
  errors.add({"a.csv", 2, 0}, "name", "is '\x1b[31mred\x07\u009b2J'");
  EXPECT_EQ(errors.text(), "a.csv:2: name: is '?[31mred??2J'");
}

TEST(ErrorList, KeepsAThousandAndTheNumberOfAll) {
  ErrorList errors;
  for (std::uint32_t line = 1; line <= 5000; ++line) errors.add({"f", line, 0}, "", "bad");
  EXPECT_EQ(errors.size(), 5000U);
  EXPECT_THAT(errors.text(20), HasSubstr("... and 4980 more"));
}

TEST(NearestWord, FindsAMisspeltWordAndNothingForAStrangeOne) {
  const std::vector<std::string> known = {"quantum", "settle", "matrix"};
  EXPECT_EQ(closest_word("quantun", known), "quantum");
  EXPECT_EQ(closest_word("setle", known), "settle");
  EXPECT_EQ(closest_word("banana", known), "");
}

TEST(NearestWord, IsTheFirstOfThoseThatAreAsNear) {
  EXPECT_EQ(closest_word("cab", {"car", "cat"}), "car");
  EXPECT_EQ(closest_word("cat", {"car", "cat"}), "cat");
  EXPECT_EQ(closest_word("ab", {"abcd"}), "abcd") << "two letters may be missing";
  EXPECT_EQ(closest_word("ab", {"abcde"}), "");
  EXPECT_EQ(closest_word("abcdefghi", {"abcdefxyz"}), "abcdefxyz") << "a third of its letters";
  EXPECT_EQ(closest_word("abcdefgh", {"abcdexyz"}), "");
  EXPECT_EQ(closest_word(std::string(201, 'a'), {std::string(201, 'a')}), "")
      << "nobody means a word so long";
  EXPECT_EQ(closest_word("x", {}), "");
}

TEST(ErrorList, ForgetsAllButTheFirst) {
  ErrorList errors;
  for (const char* field : {"a", "b", "c"}) errors.add({"f", 1}, field, "wrong");
  errors.shrink(1);
  EXPECT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.field(0), "a");
}

TEST(ErrorList, SortsByColumnWithinALine) {
  ErrorList errors;
  errors.add({"f", 2, 1}, "c", "wrong");
  errors.add({"f", 1, 9}, "b", "wrong");
  errors.add({"f", 1, 3}, "a", "wrong");
  errors.add({"f", 1, 9}, "b2", "wrong");
  errors.sort_by_line();
  std::string order;
  for (std::size_t i = 0; i < errors.size(); ++i) order += errors.field(i) + " ";
  EXPECT_EQ(order, "a b b2 c ");
}

}  // namespace
}  // namespace muster

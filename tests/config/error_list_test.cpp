#include "config/error_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

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

TEST(NearestWord, FindsAMisspeltWordAndNothingForAStrangeOne) {
  const std::vector<std::string> known = {"quantum", "settle", "matrix"};
  EXPECT_EQ(nearest_word("quantun", known), "quantum");
  EXPECT_EQ(nearest_word("setle", known), "settle");
  EXPECT_EQ(nearest_word("banana", known), "");
}

}  // namespace
}  // namespace muster

#include "model/text_cut.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(WholeCharacters, are_all_of_a_text_that_is_short_enough) {
  EXPECT_EQ(whole_characters("", 0), "");
  EXPECT_EQ(whole_characters("abc", 3), "abc");
}

TEST(WholeCharacters, leave_out_one_that_would_be_cut) {
  EXPECT_EQ(whole_characters("abc", 2), "ab");
  EXPECT_EQ(whole_characters("a\xC3\xA9z", 2), "a");
  EXPECT_EQ(whole_characters("a\xC3\xA9z", 3), "a\xC3\xA9");
  EXPECT_EQ(whole_characters("\xF0\x9F\x98\x80", 3), "");
}

TEST(WholeCharacters, are_none_of_bytes_that_begin_no_character) {
  EXPECT_EQ(whole_characters("\x80\x80\x80", 2), "");
}

}  // namespace
}  // namespace muster

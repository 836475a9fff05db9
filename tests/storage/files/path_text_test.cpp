#include "storage/files/path_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::files {
namespace {

TEST(PathTextTest, knows_valid_utf8) {
  for (const char* good : {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\x7f"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  // A lone continuation, a cut character, long forms, a surrogate, too large a number.
  for (const char* bad : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xff",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(PathTextTest, shows_no_byte_that_a_terminal_acts_on) {
  EXPECT_EQ(shown_path("data/\xc3\xa9t\xc3\xa9.csv"), "data/\xc3\xa9t\xc3\xa9.csv");
  EXPECT_EQ(shown_path("a\x1b[2Jb\n\\"), R"(a\x1b[2Jb\x0a\x5c)");
  EXPECT_EQ(shown_path("\xff\xc3"), R"(\xff\xc3)");
  EXPECT_EQ(shown_path("\xe2\x80\xae"
                       "fdp\xc2\x85"),
            R"(\xe2\x80\xaefdp\xc2\x85)");
  EXPECT_EQ(shown_path(std::string(300, 'a')), std::string(200, 'a') + "...");
}

RC_GTEST_PROP(PathTextTest, shows_any_bytes_as_text, (const std::string& bytes)) {
  RC_ASSERT(is_utf8(shown_path(bytes)));
}

RC_GTEST_PROP(PathTextTest, reads_a_field_back, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::element('\\', '\t', '\n', 't', 'n'), rc::gen::arbitrary<char>()));
  const std::string field = escaped_field(text);
  RC_ASSERT(field.find_first_of("\t\n") == std::string::npos);
  RC_ASSERT(unescaped_field(field) == text);
}

TEST(PathTextTest, refuses_fields_that_are_written_otherwise) {
  for (const char* bad : {"\\", "\\x", "a\tb", "a\nb", "\\\\\\"}) {
    EXPECT_FALSE(unescaped_field(bad)) << bad;
  }
}

}  // namespace
}  // namespace muster::files

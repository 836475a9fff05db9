#include "config/text_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using test::TempFile;
using testing::HasSubstr;

std::string error_of(const std::string& content) {
  const TempFile file("t.txt", content);
  const auto text = read_text_file(file.path());
  return text ? "no error" : text.error().message;
}

TEST(TextFile, IsReadWithoutItsByteOrderMark) {
  const TempFile file("t.txt", "\xEF\xBB\xBFone\n");
  EXPECT_EQ(read_text_file(file.path()).value(), "one\n");
  const TempFile nothing("n.txt", "\xEF\xBB\xBF");
  EXPECT_EQ(read_text_file(nothing.path()).value(), "");
}

TEST(TextFile, OfTwoBytesACharacterIsNamed) {
  EXPECT_THAT(error_of({"\xFF\xFEo\0", 4}), HasSubstr("is UTF-16; save it as UTF-8"));
  EXPECT_THAT(error_of({"\xFE\xFF\0o", 4}), HasSubstr("is UTF-16"));
  EXPECT_THAT(error_of({"\0\0\xFE\xFF\0\0\0o", 8}), HasSubstr("is UTF-32"));
  EXPECT_THAT(error_of({"o\0", 2}), HasSubstr("is no text: byte 2 is 0"));
}

TEST(TextFile, SaysWhyItCannotBeRead) {
  EXPECT_EQ(read_text_file("/nonexistent/t").error().message,
            "/nonexistent/t: cannot be read: no such file");
  EXPECT_EQ(read_text_file("/").error().message, "/: cannot be read: it is a folder");
}

}  // namespace
}  // namespace muster

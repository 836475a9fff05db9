#include "config/text_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using test::TempFile;
using testing::HasSubstr;

std::string error_of(const std::string& content) {
  const TempFile file("t.txt", content);
  return test::message_of(read_text_file(file.path()), TextFileError::damaged);
}

TEST(TextFile, IsReadWithoutItsByteOrderMark) {
  const TempFile file("t.txt", "\xEF\xBB\xBFone\n");
  EXPECT_EQ(read_text_file(file.path()).value(), "one\n");
  const TempFile nothing("n.txt", "\xEF\xBB\xBF");
  EXPECT_EQ(read_text_file(nothing.path()).value(), "");
}

TEST(TextFile, OfTwoBytesACharacterIsNamed) {
  EXPECT_THAT(error_of({"\xFF\xFEo\0", 4}), IsGolden());
  EXPECT_THAT(error_of({"\xFE\xFF\0o", 4}), HasSubstr("is UTF-16"));
  EXPECT_THAT(error_of({"\0\0\xFE\xFF\0\0\0o", 8}), HasSubstr("is UTF-32"));
  EXPECT_THAT(error_of({"o\0", 2}), IsGolden());
}

TEST(TextFile, SaysWhyItCannotBeRead) {
  EXPECT_THAT(read_text_file("/nonexistent/t").error().message, IsGoldenAt("/nonexistent/t"));
  EXPECT_THAT(read_text_file("/").error().message, IsGoldenAt("/"));
}

}  // namespace
}  // namespace muster

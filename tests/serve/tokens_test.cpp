#include "tools/serve/api/tokens.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/temp_file.hpp"

namespace muster::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kGood = "0123456789abcdef";

/// What load_tokens says of a file with the content and the mode.
Expected<std::vector<std::string>, ServerError> load(std::string_view content, int mode = 0600) {
  const test::TempFile file("token", content);
  fs::permissions(file.path(), static_cast<fs::perms>(mode));
  return load_tokens(file.path());
}

TEST(Tokens, are_read_one_a_line) {
  const auto tokens = load("# ann's\n0123456789abcdef\n\nfedcba9876543210\r\n");
  ASSERT_TRUE(tokens.has_value());
  EXPECT_THAT(tokens.value(), ElementsAre(kGood, "fedcba9876543210"));
}

TEST(Tokens, are_for_their_owners_eyes_only) {
  EXPECT_TRUE(load(kGood, 0400).has_value());
  for (const int mode : {0640, 0604, 0660, 0644, 0610}) {
    const auto tokens = load(kGood, mode);
    ASSERT_FALSE(tokens.has_value()) << mode;
    EXPECT_EQ(tokens.error().code, ServerError::bad_token_file);
    EXPECT_THAT(tokens.error().message, HasSubstr("chmod 0600"));
  }
}

TEST(Tokens, that_are_none_are_refused_with_their_line) {
  EXPECT_THAT(load("# a\nshort\n").error().message, HasSubstr("token:2: a token has 16 to 256"));
  EXPECT_FALSE(load("0123456789 abcdef\n").has_value());
  EXPECT_FALSE(load(std::string(257, 'a')).has_value());
  EXPECT_THAT(load("# nothing\n").error().message, HasSubstr("holds 0 tokens"));
  EXPECT_THAT(load(std::string(100'000, '\n')).error().message, HasSubstr("is larger than"));
}

TEST(Tokens, have_to_be_in_a_plain_file) {
  EXPECT_FALSE(load_tokens("/nowhere/token").has_value());
  EXPECT_THAT(load_tokens("/").error().message, HasSubstr("plain file"));
}

TEST(Tokens, admit_themselves_only) {
  const Tokens tokens({kGood, "fedcba9876543210"});
  EXPECT_TRUE(tokens.admits("Bearer 0123456789abcdef"));
  EXPECT_TRUE(tokens.admits("bearer fedcba9876543210"));
  for (const char* other :
       {"", "Bearer", "Bearer ", "0123456789abcdef", "Bearer 0123456789abcde",
        "Bearer 0123456789abcdef ", "Bearer  0123456789abcdef", "Bearer 0123456789ABCDEF"}) {
    EXPECT_FALSE(tokens.admits(other)) << other;
  }
  EXPECT_FALSE(Tokens({}).admits("Bearer "));
}

}  // namespace
}  // namespace muster::api

#include "config/token_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGoldenAt;

using ::testing::HasSubstr;

TEST(TokenRequest, SaysWhatIsWanted) {
  const auto request = token_request_from_json(
      R"({"name": "laptop", "role": "user", "user": "ann", "lifetime_s": 60})", "body");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->name, "laptop");
  EXPECT_EQ(request->role, Role::user);
  EXPECT_EQ(request->user, "ann");
  EXPECT_EQ(request->lifetime_s, 60);
  const auto least =
      token_request_from_json(R"({"name": "ci", "role": "admin", "lifetime_s": null})", "body");
  ASSERT_TRUE(least);
  EXPECT_EQ(least->user, "");
  EXPECT_FALSE(least->lifetime_s);
}

TEST(TokenRequest, NamesEveryFault) {
  const auto wrong = token_request_from_json(
      R"({"role": "boss", "user": "", "lifetime_s": 0, "expires": 1})", "body");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ConfigError::invalid);
  EXPECT_THAT(wrong.error().message,
              IsGoldenAt("body:1:10: /role", "body:1:26: /user", "body:1:44: /lifetime_s"));
  EXPECT_THAT(wrong.error().message, HasSubstr("body:1:47: /expires: unknown key 'expires'"));
  EXPECT_THAT(wrong.error().message, HasSubstr("/name: is missing"));
  const auto unseen =
      token_request_from_json(R"({"name": "ci", "role": "user", "user": "a\u202eb"})", "body");
  ASSERT_FALSE(unseen);
  EXPECT_THAT(unseen.error().message, IsGoldenAt("/user"));
  EXPECT_EQ(token_request_from_json("", "body").error().code, ConfigError::malformed);
  EXPECT_EQ(token_request_from_json("[]", "body").error().code, ConfigError::invalid);
}

TEST(RotationRequest, NeedSayNothing) {
  for (const char* text : {"", "{}", R"({"overlap_s": null})"}) {
    const auto request = rotation_request_from_json(text, "body");
    ASSERT_TRUE(request) << text;
    EXPECT_FALSE(request->overlap_s);
  }
  EXPECT_EQ(rotation_request_from_json(R"({"overlap_s": 0})", "body")->overlap_s, 0);
  EXPECT_THAT(rotation_request_from_json(R"({"overlap_s": 2592001})", "body").error().message,
              IsGoldenAt("/overlap_s"));
}

}  // namespace
}  // namespace muster

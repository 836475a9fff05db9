#include "config/token_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(TokenRequest, SaysWhatIsWanted) {
  const auto request = token_request_from_json(
      R"({"name": "laptop", "role": "user", "user": "ann", "lifetime_s": 60})", "body");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->name, "laptop");
  EXPECT_EQ(request->role, "user");
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
              HasSubstr("/role: has to be admin, user or read_only; it is \"boss\""));
  EXPECT_THAT(wrong.error().message, HasSubstr("/user: has to be a text of 1 to 256 bytes"));
  EXPECT_THAT(wrong.error().message,
              HasSubstr("/lifetime_s: has to be a whole number of seconds from 1 to 315360000"));
  EXPECT_THAT(wrong.error().message, HasSubstr("/expires: unknown key 'expires'"));
  EXPECT_THAT(wrong.error().message, HasSubstr("/name: is missing"));
  const auto unseen =
      token_request_from_json(R"({"name": "ci", "role": "user", "user": "a\u202eb"})", "body");
  ASSERT_FALSE(unseen);
  EXPECT_THAT(unseen.error().message,
              HasSubstr("/user: has to be a text of 1 to 256 bytes in one"));
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
              HasSubstr("/overlap_s: has to be a whole number of seconds from 0 to 2592000"));
}

}  // namespace
}  // namespace muster

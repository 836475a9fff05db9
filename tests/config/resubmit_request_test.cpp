#include "config/resubmit_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGoldenAt;

using ::testing::HasSubstr;

TEST(ResubmitRequest, NeedSayNothing) {
  for (const char* text : {"", "{}"}) {
    const auto request = resubmit_request_from_json(text, "body");
    ASSERT_TRUE(request) << text;
    EXPECT_FALSE(request->failed);
    EXPECT_EQ(request->token, "");
  }
}

TEST(ResubmitRequest, SaysWhatIsWanted) {
  const auto request =
      resubmit_request_from_json(R"({"failed": true, "max_fails": 3, "token": "t"})", "body");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->failed);
  EXPECT_EQ(request->max_fails, 3u);
  EXPECT_EQ(request->token, "t");
}

TEST(ResubmitRequest, NamesEveryFault) {
  const auto wrong = resubmit_request_from_json(
      R"({"failed": 1, "token": "", "tokens": "t", "max_fails": -1})", "body");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ConfigError::invalid);
  EXPECT_THAT(wrong.error().message,
              IsGoldenAt("body:1:12: /failed", "body:1:24: /token", "body:1:56: /max_fails"));
  EXPECT_THAT(wrong.error().message, HasSubstr("body:1:28: /tokens: unknown key 'tokens'"));
  EXPECT_EQ(resubmit_request_from_json("{", "body").error().code, ConfigError::malformed);
  EXPECT_EQ(resubmit_request_from_json("[]", "body").error().code, ConfigError::invalid);
}

}  // namespace
}  // namespace muster

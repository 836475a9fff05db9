#include "serve/api/exec_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "model/base64.hpp"
#include "tests/support/golden.hpp"

namespace muster::api {
namespace {

using nlohmann::json;
using test::IsGolden;

TEST(ExecRequest, BytesComeBackFromBase64) {
  for (const std::string& bytes : {std::string(), std::string("a"), std::string("ab"),
                                   std::string("abc"), std::string("\0\xff\x80", 3)}) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
  EXPECT_EQ(to_base64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
  for (const char* text : {"a", "abc", "ab=c", "====", "ab c", "abcd=="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

TEST(ExecRequest, ACommandIsReadFromItsBody) {
  const auto request = exec_start_from(
      R"({"argv": ["sh", "-c", "ls"], "terminal": true,
          "term": "xterm", "rows": 24, "columns": 80})");
  ASSERT_TRUE(request);
  EXPECT_THAT(request->argv, testing::ElementsAre("sh", "-c", "ls"));
  EXPECT_TRUE(request->terminal);
  EXPECT_EQ(request->term, "xterm");
  EXPECT_EQ(request->rows, 24);
  EXPECT_EQ(request->columns, 80);
}

TEST(ExecRequest, FaultsOfABodyNameTheMember) {
  for (const char* body :
       {"{}", R"({"argv": []})", R"({"argv": ["a", 1]})", R"({"argv": ["a\u0000b"]})",
        R"({"argv": ["a"], "rows": 70000, "term": "x y", "terminal": 1, "user": "root"})"}) {
    const auto request = exec_start_from(body);
    ASSERT_FALSE(request) << body;
    EXPECT_THAT(request.error().message, IsGolden());
  }
  for (const char* body : {R"({"input": "x"})", R"({"signal": 65, "out_at": -1, "ends": 0})"}) {
    const auto request = exec_step_from(body);
    ASSERT_FALSE(request) << body;
    EXPECT_THAT(request.error().message, IsGolden());
  }
}

TEST(ExecRequest, AnswersCarryBytes) {
  ExecQuery query{JobId{7}, 3};
  query.request.command = 65'537;
  ExecAnswer answer;
  answer.command = 65'537;
  answer.out = std::string("\xff\0", 2);
  answer.over = true;
  answer.exit_code = 3;
  const Answer made = exec_document(query, answer);
  EXPECT_EQ(made.status, 200);
  const json document = json::parse(made.json);
  EXPECT_EQ(document["out"], "/wA=");
  EXPECT_EQ(document["exit_code"], 3);
  EXPECT_TRUE(document["reason"].is_null());
}

TEST(ExecRequest, TroubleIsARefusal) {
  const ExecQuery query{JobId{7}, 3};
  for (int trouble = 1; trouble <= static_cast<int>(kLastExecTrouble); ++trouble) {
    const Answer made = exec_document(
        query, exec_trouble(query.request, static_cast<ExecTrouble>(trouble), "this is why"));
    EXPECT_GE(made.status, 400);
    EXPECT_THAT(made.json, IsGolden());
  }
}

TEST(ExecRequest, TheLogShowsACommandAsAShellTakesIt) {
  EXPECT_EQ(shown_command(R"({"argv": ["sh", "-c", "echo 'a\nb'"]})"),
            R"(sh -c 'echo '\''a b'\''')");
  EXPECT_EQ(shown_command("{}"), "");
  EXPECT_LT(shown_command(json{{"argv", {std::string(10'000, 'x')}}}.dump()).size(), 500u);
}

}  // namespace
}  // namespace muster::api
